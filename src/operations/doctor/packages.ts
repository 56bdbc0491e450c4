/**
 * Checks the native packages: SQLite, without which no daemon starts, and libsecp256k1, which OpenSSL
 * replaces.
 */
import { reasonOf } from '../../foundation/reason.ts'
import { native } from '../../foundation/crypto/secp256k1.ts'
import { openInMemory } from '../../foundation/storage/sqlite.ts'
import type { Finding } from './check.ts'

const hint = 'npm i -g identity-agent   # in a clone: npm ci'

export function checkPackages(): Finding {
  let version: unknown
  try {
    const database = openInMemory()
    version = database.prepare('select sqlite_version()').pluck().get()
    database.close()
  } catch (error) {
    return { status: 'failed', detail: reasonOf(error), hint }
  }
  if (native() !== undefined)
    return { status: 'ok', detail: `SQLite ${String(version)} and libsecp256k1 are loaded.` }
  return {
    status: 'warning',
    detail: `SQLite ${String(version)} is loaded. libsecp256k1 (the package secp256k1) is not, and OpenSSL signs and verifies on this curve instead, seven times more slowly.`,
    hint,
  }
}
