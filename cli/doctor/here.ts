/** What can be examined without a daemon: this program and the profile. */
import { statSync } from 'node:fs'
import satisfies from 'semver/functions/satisfies.js'
import { profilePath, readProfile } from '../../src/base/profile.ts'
import type { Check } from './check.ts'

/** The release of Node.js that runs this program, against the range that the package asks for. */
export function checkNode(running: string, wanted: string): Check {
  const detail = `Node.js ${running.replace(/^v/, '')}`
  if (satisfies(running, wanted)) return { name: 'node', status: 'ok', detail: `${detail}.` }
  return {
    name: 'node',
    status: 'failed',
    detail: `${detail}, but ${wanted} is needed.`,
    hint: `install Node.js ${wanted}`,
  }
}

/** The profile: there, whole, and nobody else's to read, since it holds the keys. */
export function checkProfile(configDir: string, profileName: string): Check {
  const name = 'profile'
  let path: string | undefined
  try {
    path = profilePath(configDir, profileName)
    const profile = readProfile(configDir, profileName)
    if (!profile)
      return {
        name,
        status: 'warning',
        detail: `There is no profile ${profileName} (${path}).`,
        hint: 'agent daemon start',
      }
    // Windows has no such modes.
    const isOpen = process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0
    if (!isOpen) return { name, status: 'ok', detail: `${path} is for the daemon at ${profile.url}.` }
    return {
      name,
      status: 'failed',
      detail: `${path} holds keys, and others can read it.`,
      hint: `chmod 600 ${path}`,
    }
  } catch (error) {
    const hint =
      path === undefined
        ? 'agent profile list'
        : `mv ${path} ${path}.old   # a daemon writes its own when it starts`
    return { name, status: 'failed', detail: (error as Error).message, hint }
  }
}
