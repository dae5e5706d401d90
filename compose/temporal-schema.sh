#!/bin/sh
# Creates or updates Temporal's two databases. Repeatable: an existing one is only brought up to date.
set -eu

schema() { # database, folder of its versions
  tool="temporal-sql-tool --plugin postgres12 --ep postgres -p 5432 -u temporal --db $1"
  $tool create
  $tool setup-schema -v 0.0 || true # refused when it is there already; the update below tells whether it is usable
  $tool update-schema -d "/etc/temporal/schema/postgresql/v12/$2/versioned"
}

schema temporal temporal
schema temporal_visibility visibility
