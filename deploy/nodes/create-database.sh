#!/bin/sh
# The role and the database of the agent. PostgreSQL's image runs this once, when its volume is empty.
set -eu
psql --username postgres --set ON_ERROR_STOP=1 --set password="$(cat /run/secrets/database-password)" <<'SQL'
create role agent login password :'password' nosuperuser nobypassrls;
create database agent owner agent;
SQL
