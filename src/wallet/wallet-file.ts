/**
 * The file of a wallet, `wallets/<id>.db`: its seed and its key, and the files that cannot be used.
 *
 * The seed is in the file, sealed with the wallet key. The wallet key is in agent.db, sealed with a key that
 * the agent key derives.
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { syncFolder } from '../foundation/private-files.ts'
import { Problem } from '../foundation/problem.ts'
import { keyedDigest, seal, unseal, withSealKey } from '../foundation/seal.ts'
import { DamagedFileError } from '../foundation/storage/file-errors.ts'
import type { Db } from '../foundation/storage/database.ts'
import { filesOf, removeDatabase } from '../foundation/storage/files.ts'
import { prepared } from '../foundation/storage/prepared.ts'

/** Writes the seed of a new wallet, 64 bytes. */
export async function insertSeed(db: Db, id: string, key: Uint8Array, seed: Uint8Array): Promise<void> {
  const value = seal(key, seedContext(id), seed)
  await db.insertInto('setting').values({ name: 'seed', value }).execute()
}

const sealedSeed = prepared((db: Db) => db.selectFrom('setting').select('value').where('name', '=', 'seed'))

/**
 * The seed of a wallet.
 *
 * @throws {DamagedFileError} when the contents with the given name belong to another wallet.
 */
export async function readSeed(db: Db, id: string, name: string, key: Uint8Array): Promise<Uint8Array> {
  const { rows } = await sealedSeed(db, {})
  try {
    return unseal(key, seedContext(id), rows[0]?.value ?? '')
  } catch (error) {
    const reason = `is not the file of the wallet ${id}: the wallet's key does not unseal its seed`
    throw new DamagedFileError(name, reason, { cause: error })
  }
}

/** Seals the seed for a wallet whose id changes to `id`. */
export async function resealSeed(db: Db, id: string, key: Uint8Array, seed: Uint8Array): Promise<void> {
  const value = seal(key, seedContext(id), seed)
  await db.updateTable('setting').set({ value }).where('name', '=', 'seed').execute()
}

function seedContext(id: string): string {
  return `seed:${id}`
}

/** Seals a wallet key (32 bytes) for the wallet's row in agent.db. Base64url. */
export function wrapWalletKey(agentKey: Uint8Array, id: string, key: Uint8Array): string {
  return withSealKey(agentKey, 'wallet-keys', (walletKeys) => seal(walletKeys, `wallet:${id}`, key))
}

/** The wallet key. @throws when it was wrapped for another wallet, or by another agent. */
export function unwrapWalletKey(agentKey: Uint8Array, id: string, wrapped: string): Uint8Array {
  return withSealKey(agentKey, 'wallet-keys', (walletKeys) => unseal(walletKeys, `wallet:${id}`, wrapped))
}

/** A keyed digest of a seed (64 bytes), which shows that two wallets have the same seed. Base64url. */
export function seedDigestOf(agentKey: Uint8Array, seed: Uint8Array): string {
  return withSealKey(agentKey, 'seed-digest', (key) => keyedDigest(key, Buffer.from(seed).toString('hex')))
}

const setAsideSuffix = /\.damaged-[0-9TZ]+$/

/**
 * Renames the files of a damaged database, so that the operator can examine them and put a copy in their
 * place. Returns the new name.
 */
export function setAside(path: string): string {
  const name = `${basename(path)}.damaged-${new Date().toISOString().replaceAll(/[-:.]/g, '')}`
  for (const file of filesOf(path))
    if (existsSync(file)) renameSync(file, join(dirname(path), name) + file.slice(path.length))
  return name
}

/** The names of files in a folder that were set aside and not replaced since. */
export function findSetAside(folder: string): string[] {
  const names = readdirSync(folder)
  return names.filter(
    (name) => setAsideSuffix.test(name) && !names.includes(name.replace(setAsideSuffix, '')),
  )
}

/** Removes the files of a wallet, also those that were set aside. */
export function removeWalletFiles(path: string): void {
  const folder = dirname(path)
  for (const name of readdirSync(folder))
    if (name.startsWith(`${basename(path)}.damaged-`)) rmSync(join(folder, name), { force: true })
  removeDatabase(path)
  syncFolder(folder)
}

/** The problem of a wallet whose file is missing or was set aside. */
export function missingFile(path: string, id: string, cause?: Error): Problem {
  const name = findSetAside(dirname(path)).findLast((name) => name.startsWith(`${id}.db`))
  const reason =
    name === undefined
      ? 'It is missing.'
      : `It is damaged or belongs to another wallet, and was renamed to wallets/${name}.`
  return unreadable(id, reason, cause)
}

/** The problem of a wallet whose file cannot be used; `reason` is a sentence. */
export function unreadable(id: string, reason: string, cause?: Error): Problem {
  const detail = `The file of the wallet ${id} cannot be used. ${reason} The operator of the agent can restore it from a copy.`
  return new Problem('error:WalletManagementServiceError:WalletUnreadable', detail, { cause })
}
