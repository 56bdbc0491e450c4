/** Each test file of a run with `TEST_STORE=postgres` needs PostgreSQL. */
import { needsPostgres } from './_needs-postgres.ts'
import { isOnPostgres } from './_store.ts'

if (isOnPostgres) needsPostgres()
