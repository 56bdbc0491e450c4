/** The version of this package, as its package.json says. */
import { readFileSync } from 'node:fs'
import { z } from 'zod'

const Manifest = z.object({ name: z.literal('identity-agent'), version: z.string() })

/** The SemVer version of the agent. */
export const version = readVersion(new URL('.', import.meta.url))

/** The manifest lies one folder up from the sources, and two from what is built of them. */
function readVersion(folder: URL): string {
  const parent = new URL('..', folder)
  if (parent.href === folder.href) throw new Error('the package.json of identity-agent is missing')
  try {
    return Manifest.parse(JSON.parse(readFileSync(new URL('package.json', parent), 'utf8'))).version
  } catch {
    return readVersion(parent)
  }
}
