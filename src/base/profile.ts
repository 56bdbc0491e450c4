/**
 * Profiles: how the command line finds a daemon and is let in (decisions.md §3, users.md D5).
 *
 * The daemon writes its profile when it starts; commands read it. A profile holds secrets, so the file is 0600 in a folder
 * that is 0700. It outlives the daemon, which keeps its secrets from one start to the next there.
 */
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { StartError } from './start-error.ts'

export const Profile = z.object({
  /** Base URL of the HTTP API. */
  url: z.url(),
  /** Base URL of the DIDComm endpoint. */
  didcommUrl: z.url(),
  /** What `x-admin-api-key` must be. */
  adminToken: z.string().min(1),
  /** The `apikey` of the default wallet; absent when there is no default wallet, or its key is not known. */
  apiKey: z.string().min(1).optional(),
  dataDir: z.string().min(1),
  pid: z.int().positive(),
  startedAt: z.iso.datetime(),
})
export type Profile = z.infer<typeof Profile>

const Name = z.string().regex(/^[a-z0-9-]+$/i)

/** The file of a profile. @throws {StartError} when the name has other characters than letters, digits and hyphens. */
export function profilePath(configDir: string, name: string): string {
  if (!Name.safeParse(name).success)
    throw new StartError(`The profile name ${JSON.stringify(name)} is not made of letters, digits and hyphens.`, 2)
  return join(configDir, 'profiles', `${name}.json`)
}

/**
 * Reads a profile; `undefined` when there is none of that name.
 *
 * @throws {StartError} when the file cannot be read or is not a profile; the message names the fields, never their values.
 */
export function readProfile(configDir: string, name: string): Profile | undefined {
  const path = profilePath(configDir, name)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new StartError(`The profile ${path} cannot be read (${code}).`, 2, { cause: error })
  }
  const result = Profile.safeParse(parseJson(text))
  if (result.success) return result.data
  const fields = [...new Set(result.error.issues.map((issue) => issue.path.join('.') || 'the whole'))]
  throw new StartError(`The profile ${path} is not valid (${fields.join(', ')}). Remove it; the daemon writes a new one when it starts.`, 2)
}

/**
 * Writes a profile: whole or not at all, readable by nobody else.
 *
 * @throws {StartError} when the folder or the file cannot be written.
 */
export function writeProfile(configDir: string, name: string, profile: Profile): void {
  const path = profilePath(configDir, name)
  const folder = join(configDir, 'profiles')
  const temporary = `${path}.${process.pid}`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    chmodSync(folder, 0o700)
    rmSync(temporary, { force: true })
    const file = openSync(temporary, 'wx', 0o600)
    try {
      writeSync(file, `${JSON.stringify(Profile.parse(profile), null, 2)}\n`)
      // Without it a power cut may leave the new name on an empty file, and the admin token would be lost.
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    if (error instanceof z.ZodError) throw error
    throw new StartError(`The profile ${path} cannot be written (${(error as NodeJS.ErrnoException).code}).`, 5, { cause: error })
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
