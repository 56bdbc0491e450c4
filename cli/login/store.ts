/**
 * The tokens of `agent login`, by the name of the profile: a file (0600) in `logins` of the configuration
 * folder. A daemon replaces its profile when it starts, so the tokens are not in the profile.
 */
import { closeSync, openSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { tryParseJson } from '../../src/foundation/json.ts'
import { makeFolder, writePrivateFile } from '../../src/foundation/private-files.ts'
import { profilePath } from '../../src/foundation/config/profile.ts'
import { StartError } from '../../src/foundation/start-error.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'

export const Login = z.object({
  /** The daemon that the tokens are sent to, and no other. */
  url: z.url(),
  issuer: z.url(),
  clientId: z.string(),
  accessToken: z.string().min(1),
  refreshToken: z.string().optional(),
  /** Seconds since 1970. Undefined if the provider does not tell. */
  expiresAt: z.int().optional(),
  /** The wallet that calls are about (`X-Wallet-Id`). */
  walletId: z.string().optional(),
})
export type Login = z.infer<typeof Login>

export function loginPath(configDir: string, profile: string): string {
  const name = profilePath(configDir, profile).slice(dirname(profilePath(configDir, profile)).length + 1)
  return join(configDir, 'logins', name)
}

/**
 * The login of a profile, if there is one.
 *
 * @throws {StartError} when the file cannot be read, or is not valid
 */
export function readLogin(configDir: string, profile: string): Login | undefined {
  const path = loginPath(configDir, profile)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new StartError(`The login ${path} cannot be read: ${systemReason(error)}.`, 2, { cause: error })
  }
  const { data } = Login.safeParse(tryParseJson(text))
  if (data) return data
  throw new StartError(`The login ${path} is not valid. Remove it, and sign in again: agent login.`, 2)
}

export function writeLogin(configDir: string, profile: string, login: Login): void {
  writePrivateFile(loginPath(configDir, profile), `${JSON.stringify(login, null, 2)}\n`)
}

export function removeLogin(configDir: string, profile: string): void {
  rmSync(loginPath(configDir, profile), { force: true })
}

/** A refresh takes a few requests. A lock that is older belongs to a process that was killed. */
const staleMs = 60_000

/**
 * Runs work while no other process refreshes the tokens of the profile: some providers revoke a refresh token
 * that is used twice.
 */
export async function withLoginLock<T>(
  configDir: string,
  profile: string,
  work: () => Promise<T>,
): Promise<T> {
  const lock = `${loginPath(configDir, profile)}.lock`
  makeFolder(dirname(lock))
  while (!tryLock(lock)) await sleep(50)
  try {
    return await work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function tryLock(path: string): boolean {
  try {
    closeSync(openSync(path, 'wx', 0o600))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
  if (age > staleMs) rmSync(path, { force: true })
  return false
}
