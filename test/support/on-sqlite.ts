/**
 * In a file `x.store.test.ts`, a test whose outcome the store does not decide. Over PostgreSQL it would prove
 * nothing more.
 */
import { test } from 'vitest'
import { isOnPostgres } from './store.ts'

export const testOnSqlite = test.skipIf(isOnPostgres)
