"""docker-compose.yml promises things that no engine is needed to see."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import compose_env
import pytest
import yaml
from eunoe_embedder.main import PROGRAM as EMBEDDER
from eunoe_extractor.main import PARSE as EXTRACTOR
from eunoe_gateway.main import PROGRAM as GATEWAY
from eunoe_graph.main import PROGRAM as GRAPH
from eunoe_llm_extractor.main import PROGRAM as LLM_EXTRACTOR
from eunoe_process.program import Program
from eunoe_process.run import run_process
from eunoe_process.settings_table import OURS
from eunoe_search.main import PROGRAM as SEARCH
from eunoe_standalone.settings_catalogue import all_settings
from eunoe_telemetry.metrics import METRICS
from servers import kafka, neo4j, weaviate

ROOT = Path(__file__).resolve().parents[3]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
SERVICES: Mapping[str, Mapping[str, Any]] = COMPOSE["services"]
PROGRAMS: Mapping[str, Program] = {
    "gateway": GATEWAY,
    "extractor": EXTRACTOR,
    "embedder": EMBEDDER,
    "llm-extractor": LLM_EXTRACTOR,
    "graph": GRAPH,
    "search": SEARCH,
}
EMBEDDERS = {"embedder-gpu": EMBEDDER}
"""In the place of `embedder`, by a profile."""
STARTED: Mapping[str, Program] = {**PROGRAMS, **EMBEDDERS}
JOBS = {"provision", "models"}
STORES = {
    "kafka": "/var/lib/kafka/data",
    "postgres": "/var/lib/postgresql/data",
    "s3": "/data",
    "weaviate": "/var/lib/weaviate",
    "neo4j": "/data",
}
OBSERVABILITY = {"prometheus": "/prometheus", "grafana": "/var/lib/grafana"}
WRITES_ITS_OWN_FOLDER = {"neo4j"}
"""The start script of the image writes the configuration beside the program."""
VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<rest>[^}]*))?\}")
SECRET = "0123456789abcdef" * 2
SECRET_NAME = re.compile(r"PASSWORD|SECRET|_AUTH$|ACCESS_KEY|API_KEY|ALLOWED_KEYS|ROOT_USER|TOKEN")
PINNED = re.compile(r"[\w./-]+:(?:RELEASE\.)?v?\d[\w.-]*\d[\w.-]*\Z")


def filled(value: str) -> str:
    """A value as compose fills it in where every secret is set and nothing else."""
    return VARIABLE.sub(lambda found: SECRET if found["kind"] == "?" else found["rest"] or "", value)


def environment(service: str) -> Mapping[str, str]:
    return {name: filled(value) for name, value in SERVICES[service].get("environment", {}).items()}


def image_settings(service: str) -> Mapping[str, str]:
    text = (ROOT / SERVICES[service]["build"]["dockerfile"]).read_text(encoding="utf-8")
    return dict(re.findall(r"\b(EUNOE_\w+)=(\S+)", text))


def volumes(service: str) -> Mapping[str, str]:
    """Target -> source of what is mounted."""
    mounts = [filled(each).split(":") for each in SERVICES[service].get("volumes", [])]
    return {each[1] if len(each) > 1 else each[0]: each[0] if len(each) > 1 else "" for each in mounts}


def test_there_is_nothing_but_what_is_known_here() -> None:
    assert set(SERVICES) == {*STARTED, *JOBS, *STORES, *OBSERVABILITY}
    assert {name for name, each in SERVICES.items() if each.get("profiles") == ["gpu"]} == set(EMBEDDERS)
    assert {name for name, each in SERVICES.items() if each.get("profiles") == ["observability"]} == set(OBSERVABILITY)


@pytest.mark.parametrize("service", SERVICES)
def test_every_image_is_pinned(service: str) -> None:
    image = filled(SERVICES[service]["image"])
    assert PINNED.match(image), image
    assert not re.search(r"minio/|bitnami", image)
    if "build" not in SERVICES[service]:
        assert SERVICES[service]["image"].startswith(f"${{EUNOE_IMAGE_{service.upper()}:-"), "cannot be replaced by a setting"


def test_servers_are_those_that_the_tests_run_on() -> None:
    assert filled(SERVICES["kafka"]["image"]).endswith(f":{kafka.VERSION}")
    assert filled(SERVICES["weaviate"]["image"]).endswith(f":{weaviate.VERSION}")
    minor, patch = neo4j.VERSION.rsplit(".", 1)
    found = re.fullmatch(rf"neo4j:{re.escape(minor)}\.(\d+)-community", filled(SERVICES["neo4j"]["image"]))
    assert found is not None
    assert int(found[1]) >= int(patch)


def test_every_setting_is_known() -> None:
    known = {name for each in all_settings() for name in (each.variable, *each.aliases)}
    given = {name for service in SERVICES for name in environment(service) if OURS.match(name)}
    assert given
    assert given <= known


@pytest.mark.parametrize("service", STARTED)
def test_a_service_accepts_its_settings(service: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [each for each in os.environ if OURS.match(each)]:
        monkeypatch.delenv(name)
    for name, value in {**image_settings(service), **environment(service)}.items():
        monkeypatch.setenv(name, value)
    assert run_process(STARTED[service], ["--check"]) == 0


@pytest.mark.parametrize("service", STARTED)
def test_a_service_is_told_what_it_needs_and_no_secret_more(service: str) -> None:
    wanted = {
        "POSTGRES",
        *(
            section
            for section, store in {"S3": "blobs", "WEAVIATE": "vector index", "NEO4J": "graph", "KAFKA": "log"}.items()
            if store in STARTED[service].stores
        ),
    }
    sections = {"POSTGRES", "S3", "WEAVIATE", "NEO4J", "KAFKA"}
    assert {name.split("_")[1] for name in environment(service)} & sections == wanted


def test_secrets_come_from_outside() -> None:
    for service, each in SERVICES.items():
        for name, value in each.get("environment", {}).items():
            if SECRET_NAME.search(name) and value not in {"true", "false"}:
                assert re.fullmatch(r"(neo4j/)?\$\{EUNOE_SECRET_\w+:\?run make compose-env, which writes it into \.env\}", value), (
                    service,
                    name,
                )
    assert not re.search(r"\$\{EUNOE_SECRET_\w+(?!\w*:\?)", (ROOT / "docker-compose.yml").read_text(encoding="utf-8"))


def test_two_doors_are_published_to_this_machine() -> None:
    published = {name: each["ports"] for name, each in SERVICES.items() if "ports" in each}
    assert set(published) == {"gateway", "grafana"}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)


def test_only_doors_and_the_model_job_reach_the_outside() -> None:
    assert COMPOSE["networks"]["back"] == {"internal": True}
    assert {name for name, each in SERVICES.items() if "front" in each["networks"]} == {"gateway", "grafana", "models"}
    assert not any("network_mode" in each for each in SERVICES.values())


@pytest.mark.parametrize("service", SERVICES)
def test_every_container_has_limits_and_few_rights(service: str) -> None:
    each = SERVICES[service]
    assert each["mem_limit"]
    assert each["pids_limit"]
    assert each["logging"]["options"].keys() == {"max-size", "max-file"}
    assert each["cap_drop"] == ["ALL"]
    assert each["security_opt"] == ["no-new-privileges:true"]
    assert each["read_only"] is (service not in WRITES_ITS_OWN_FOLDER)
    assert not each.keys() & {"cap_add", "privileged", "container_name", "pid", "ipc", "devices"}


@pytest.mark.parametrize("service", [each for each in SERVICES if each not in JOBS])
def test_every_server_says_whether_it_is_well(service: str) -> None:
    check = SERVICES[service]["healthcheck"]
    assert check.keys() >= {"interval", "timeout", "retries", "start_period", "start_interval"}
    if service in STARTED:  # the image says how
        assert "\nHEALTHCHECK " in (ROOT / SERVICES[service]["build"]["dockerfile"]).read_text(encoding="utf-8")
    else:
        assert check["test"][0] in {"CMD", "CMD-SHELL"}
    assert SERVICES[service]["restart"] == "unless-stopped"


@pytest.mark.parametrize("service", [*STORES, *OBSERVABILITY])
def test_every_store_keeps_its_data_in_a_named_volume(service: str) -> None:
    source = volumes(service)[{**STORES, **OBSERVABILITY}[service]]
    assert source in COMPOSE["volumes"]


def test_every_mounted_file_is_there_and_every_volume_is_used() -> None:
    sources = [source for service in SERVICES for source in volumes(service).values()]
    assert [each for each in sources if each.startswith(".") and not (ROOT / each).exists()] == []
    assert {each for each in sources if each and not each.startswith(".")} == set(COMPOSE["volumes"])


def test_data_lies_where_the_servers_look() -> None:
    assert environment("kafka")["KAFKA_LOG_DIRS"] == STORES["kafka"]
    assert environment("weaviate")["PERSISTENCE_DATA_PATH"] == STORES["weaviate"]
    assert SERVICES["s3"]["command"][:2] == ["server", STORES["s3"]]
    assert f"--storage.tsdb.path={OBSERVABILITY['prometheus']}" in SERVICES["prometheus"]["command"]


def test_services_wait_for_the_jobs_and_the_jobs_for_the_stores() -> None:
    done, well = {"condition": "service_completed_successfully"}, {"condition": "service_healthy"}
    for service in STARTED:
        models = {"models": done} if "/models" in volumes(service) else {}
        assert SERVICES[service]["depends_on"] == {"provision": done, **models}, service
    assert SERVICES["provision"]["depends_on"] == dict.fromkeys(STORES, well)
    assert SERVICES["provision"]["command"] == ["admin", "provision"]
    assert SERVICES["models"]["command"] == ["models", "pull", environment("embedder")["EUNOE_MODELS__PROFILE"]]


def test_a_gpu_embedder_takes_the_place_of_the_other_one() -> None:
    ours, theirs = SERVICES["embedder-gpu"], SERVICES["embedder"]
    assert ours["networks"] == {"back": {"aliases": ["embedder"]}}
    assert ours["deploy"]["resources"]["reservations"]["devices"] == [{"driver": "nvidia", "count": 1, "capabilities": ["gpu"]}]
    assert filled(theirs["scale"]) == "1"
    assert {**environment("embedder"), "EUNOE_MODELS__BACKEND": "sentence-transformers"} == environment("embedder-gpu")
    assert image_settings("embedder-gpu")["EUNOE_MODELS__DEVICE"] == "cuda"


def test_who_needs_the_model_is_told_the_same_about_it() -> None:
    told = [
        {name: value for name, value in SERVICES[each]["environment"].items() if name.startswith("EUNOE_MODELS__")} for each in PROGRAMS
    ]
    assert len({tuple(each.items()) for each in told if each}) == 1
    assert [name for name, each in zip(PROGRAMS, told, strict=True) if each] == ["gateway", "extractor", "embedder", "search"]
    folders = {name for name in STARTED if volumes(name).get(environment(name).get("EUNOE_MODELS__FOLDER", "none")) == "models"}
    assert folders == {"search", "extractor", "embedder-gpu"}


def test_a_stop_has_time_to_drain() -> None:
    for service in STARTED:
        assert int(SERVICES[service]["stop_grace_period"].removesuffix("s")) > 30 + 15
        assert SERVICES[service]["init"] is True


def test_weaviate_is_set_up_as_the_index_wants_it() -> None:
    given = environment("weaviate")
    assert given["ASYNC_INDEXING"] == given["DISABLE_TELEMETRY"] == given["AUTHENTICATION_APIKEY_ENABLED"] == "true"
    assert given["AUTOSCHEMA_ENABLED"] == given["AUTHENTICATION_ANONYMOUS_ACCESS_ENABLED"] == "false"


def test_prometheus_asks_every_service() -> None:
    found = yaml.safe_load((ROOT / "deploy/compose/prometheus.yml").read_text(encoding="utf-8"))["scrape_configs"]
    asked = {name: each["port"] for job in found for each in job["dns_sd_configs"] for name in each["names"]}
    assert asked == {name: program.admin_port for name, program in PROGRAMS.items()}


def expressions(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, each in value.items():
            if name == "expr":
                yield each
            yield from expressions(each)
    elif isinstance(value, list):
        for each in value:
            yield from expressions(each)


def test_dashboards_show_metrics_that_there_are() -> None:
    kinds = {f"eunoe_{each.name}": each.kind for each in METRICS}
    known = {*kinds, *(f"{name}_{part}" for name, kind in kinds.items() if kind == "histogram" for part in ("bucket", "sum", "count"))}
    files = list((ROOT / "deploy/compose/grafana/dashboards").glob("*.json"))
    asked = [each for file in files for each in expressions(yaml.safe_load(file.read_text(encoding="utf-8")))]
    assert asked
    assert {name for each in asked for name in re.findall(r"eunoe_\w+", each)} <= known


def test_a_fresh_env_file_has_every_secret_once_and_for_its_owner_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / ".env"
    assert compose_env.main([str(path)]) == 0
    given = dict(line.split("=") for line in path.read_text(encoding="utf-8").splitlines())
    assert set(given) == set(re.findall(r"\$\{(\w+):\?", (ROOT / "docker-compose.yml").read_text(encoding="utf-8")))
    assert len(set(given.values())) == len(given)
    assert min(map(len, given.values())) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert not any(value in capsys.readouterr().out for value in given.values())


def test_an_env_file_keeps_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("EUNOE_SECRET_S3=mine\nEUNOE_PORT_HTTP=8090", encoding="utf-8")
    compose_env.main([str(path)])
    first = path.read_text(encoding="utf-8")
    assert first.startswith("EUNOE_SECRET_S3=mine\nEUNOE_PORT_HTTP=8090\n")
    assert first.count("EUNOE_SECRET_S3=") == 1
    compose_env.main([str(path)])
    assert path.read_text(encoding="utf-8") == first
