/** Each test file of a run with `TEST_STORE=postgres` needs PostgreSQL. */
import { needsPostgres } from './needs-postgres.ts'
import { isOnPostgres } from './store.ts'

if (isOnPostgres) needsPostgres()
