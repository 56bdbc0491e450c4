/** Files of wallets that cannot be used: set aside by name, so that the operator can look at them and put a copy in their place. */
import { existsSync, readdirSync, renameSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Problem } from '../base/problem.ts'
import { filesOf } from '../storage/files.ts'
import type { Log } from '../base/log.ts'
import { DamagedFileError } from '../storage/damaged-file-error.ts'
import { NewerFileError } from '../storage/newer-file-error.ts'
import { openWallet, type Environment, type Wallet } from './wallet.ts'
import { keyedDigest, seal, unseal, withSealKey } from '../base/seal.ts'

/** What ends the name of a file that was set aside. */
const isSetAside = /\.damaged-[0-9TZ]+$/

/** The name that a file is set aside under now. */
export function nameAside(path: string): string {
  return `${basename(path)}.damaged-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`
}

/** Renames a database's files, so that nobody takes them for the wallet's. */
export function setAside(path: string, name: string): void {
  for (const file of filesOf(path))
    if (existsSync(file)) renameSync(file, join(dirname(path), name) + file.slice(path.length))
}

/** The names of files in a folder that were set aside, and that nothing has been put in the place of. */
export function findSetAside(folder: string): string[] {
  const names = readdirSync(folder)
  return names.filter((name) => isSetAside.test(name) && !names.includes(name.replace(isSetAside, '')))
}

/** The problem of a wallet whose file is missing, or was set aside. */
export function unusable(folder: string, id: string, cause?: Error): Problem {
  const name = findSetAside(folder).findLast((name) => name.startsWith(`${id}.db`))
  const whereabouts =
    name === undefined
      ? 'It is missing.'
      : `It is damaged or another's, and was set aside as wallets/${name}.`
  return unreadable(id, whereabouts, cause)
}

/** The problem of a wallet whose file cannot be used. */
export function unreadable(id: string, whereabouts: string, cause?: Error): Problem {
  const detail = `The file of the wallet ${id} cannot be used. ${whereabouts} The operator of the agent can put a copy of it back.`
  return new Problem('error:WalletManagementServiceError:WalletUnreadable', detail, { cause })
}

type File = { id: string; path: string; key: Uint8Array; isInDoubt: boolean }

/** `log` is that of whoever wants it open. @throws {Problem} `WalletUnreadable` when it is missing, of a newer release, or damaged; then it has another name afterwards. */
export async function openOrSetAside(
  env: Environment,
  { id, path, key, isInDoubt }: File,
  log: Log,
): Promise<Wallet> {
  // SQLite would make an empty one.
  if (!existsSync(path)) throw unusable(dirname(path), id)
  try {
    if (!statSync(path).isFile()) throw new DamagedFileError(path, 'is not a file')
    return await openWallet(env, id, path, key, isInDoubt)
  } catch (error) {
    if (error instanceof NewerFileError)
      throw unreadable(
        id,
        'It was written by a newer release of the agent, and was left as it is: start that release.',
        error,
      )
    if (!(error instanceof DamagedFileError)) throw error
    const name = nameAside(path)
    log.error(
      { err: error, walletId: id, setAsideAs: name },
      'the file of a wallet is damaged or another’s, and is set aside',
    )
    setAside(path, name)
    throw unusable(dirname(path), id, error)
  }
}

/** Wraps a wallet's key (32 bytes) for the row of the wallet. Base64url. */
export function wrapWalletKey(agentKey: Uint8Array, id: string, key: Uint8Array): string {
  return withSealKey(agentKey, 'wallet-keys', (walletKeys) => seal(walletKeys, `wallet:${id}`, key))
}

/** The key of a wallet. @throws when it was wrapped for another wallet, or by another agent. */
export function unwrapWalletKey(agentKey: Uint8Array, id: string, wrapped: string): Uint8Array {
  return withSealKey(agentKey, 'wallet-keys', (walletKeys) => unseal(walletKeys, `wallet:${id}`, wrapped))
}

/** A digest by which a seed (64 bytes) is found again, so that none is used twice. Base64url. */
export function seedDigestOf(agentKey: Uint8Array, seed: Uint8Array): string {
  return withSealKey(agentKey, 'seed-digest', (key) => keyedDigest(key, Buffer.from(seed).toString('hex')))
}
