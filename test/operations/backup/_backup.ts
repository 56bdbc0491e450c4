/** Helpers that make backups in a temporary folder, verify, restore and inspect them. */
import { join } from 'node:path'
import { restoreBackup } from '../../../src/operations/backup/restore.ts'
import { verifyBackup } from '../../../src/operations/backup/verify.ts'
import { readConfig } from '../../../src/foundation/config/config.ts'
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'
import type { TestAgent } from '../../support/agent.ts'

/** Makes a backup of an agent by its API. */
export function backUp({ admin }: TestAgent, folder: string, includesMasterKey = false) {
  return admin('POST /_system/backups', { body: { folder, includesMasterKey } })
}

/** Verifies a backup with the settings of the daemon of that data folder. */
export function verify(folder: string, dataDir: string, variables: Record<string, string> = {}) {
  return verifyBackup(folder, readConfig({ AGENT_DATA_DIR: dataDir, ...variables }))
}

/** Restores a backup to a data folder. */
export function restore(folder: string, dataDir: string, variables: Record<string, string> = {}) {
  return restoreBackup(folder, readConfig({ AGENT_DATA_DIR: dataDir, ...variables }))
}

/** Returns a setting of a wallet in a backup, or undefined. */
export function settingIn(folder: string, walletId: string, name: string): string | undefined {
  const database = openSqlite(join(folder, 'wallets', `${walletId}.db`), { readonly: true })
  try {
    return database.prepare('select value from setting where name = ?').pluck().get(name) as
      string | undefined
  } finally {
    database.close()
  }
}
