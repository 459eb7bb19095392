"""eunoe search: fan out to the arms, fuse, apply priors and hops, calibrate, hydrate and cite."""
