/** A backup, for people. */
import type { BackupAtRest } from './at-rest.ts'

type Backup = Omit<BackupAtRest, 'masterKey' | 'faults'>

/** The fields of a backup, in the order in which they are shown. */
export function fieldsOf(backup: Backup): [name: string, value: unknown][] {
  const { folder, instant, wallets, missing, bytes, agentVersion } = backup
  return [
    ['folder', folder],
    ['as of', instant],
    ['wallets', missing.length > 0 ? `${wallets}, and ${missing.length} that are not in it` : wallets],
    ['size', `${(bytes / 1_000_000).toFixed(1)} MB`],
    ['version', agentVersion],
  ]
}

/** What is to be known of the master key. */
export function keyWords({ masterKey, includesMasterKey }: BackupAtRest): string {
  if (masterKey === 'opens') return includesMasterKey ? 'is in it, and opens it' : 'the one at hand opens it'
  if (masterKey === 'absent') return 'not at hand'
  return includesMasterKey ? 'is in it, and does not open it' : 'the one at hand does not open it'
}

/** Wallets that are not in a backup, a line each. */
export function missingWords({ missing }: Backup): string[] {
  return missing.map(({ walletId, reason }) => `The wallet ${walletId} is not in it: ${reason}.`)
}
