-- Run once by the image, as superuser, when its volume is new. Who owns the tables is not who works on them: docs/how-to/postgresql.md.
\getenv owner_password EUNOE_OWNER_PASSWORD
\getenv service_password EUNOE_SERVICE_PASSWORD

CREATE ROLE eunoe_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE eunoe LOGIN PASSWORD :'service_password';
CREATE DATABASE eunoe OWNER eunoe_owner;
REVOKE ALL ON DATABASE eunoe FROM PUBLIC;
GRANT CONNECT ON DATABASE eunoe TO eunoe;

\connect eunoe
SET ROLE eunoe_owner;
CREATE SCHEMA catalogue;
GRANT USAGE ON SCHEMA catalogue TO eunoe;
ALTER DEFAULT PRIVILEGES IN SCHEMA catalogue GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO eunoe;
ALTER DEFAULT PRIVILEGES IN SCHEMA catalogue GRANT USAGE ON SEQUENCES TO eunoe;
