/** The version of this package, from its package.json. */
import { readFileSync } from 'node:fs'
import * as z from 'zod'

const Manifest = z.object({ name: z.literal('identity-agent'), version: z.string() })

export const version = readVersion(new URL('.', import.meta.url))

/** Searches the parent folders for the package.json: sources and bundle are at different depths. */
function readVersion(folder: URL): string {
  const parent = new URL('..', folder)
  if (parent.href === folder.href) throw new Error('the package.json of identity-agent is missing')
  try {
    return Manifest.parse(JSON.parse(readFileSync(new URL('package.json', parent), 'utf8'))).version
  } catch {
    return readVersion(parent)
  }
}
