/**
 * Secrets in files of their own, as Docker, Kubernetes and systemd provide them: `ADMIN_TOKEN_FILE` names the
 * file of `ADMIN_TOKEN`.
 */
import { resolve } from 'node:path'
import type { Fault, Source } from './fault.ts'
import { secretFiles, type Name } from './setting-names.ts'
import type { Settings } from './settings.ts'
import { FileFault, readSmallFile } from '../small-file.ts'

export type Layer = { source: Source; path?: string | undefined; values: Settings }

/** Bytes of the largest secret. */
const maxBytes = 65_536

/**
 * Reads the files that the highest source of each secret names. The final line break is not part of the
 * secret.
 *
 * @param layers with the highest precedence first
 * @returns the secrets by variable. A secret and its file in one source are a fault.
 */
export function readSecretFiles(layers: readonly Layer[]): {
  secrets: Partial<Record<Name, string>>
  faults: Fault[]
} {
  const secrets: Partial<Record<Name, string>> = {}
  const faults: Fault[] = []
  for (const [fileName, name] of secretFiles) {
    for (const { source, path, values } of layers)
      if (values[name] !== undefined && values[fileName] !== undefined)
        faults.push({
          name: fileName,
          source,
          path,
          reason: `is set beside ${name}`,
          remedy: 'Remove one of them.',
        })
    const layer = layers.find(({ values }) => values[name] !== undefined || values[fileName] !== undefined)
    const file = layer?.values[fileName]
    if (!layer || file === undefined || layer.values[name] !== undefined) continue
    try {
      secrets[name] = readSecret(file)
    } catch (error) {
      if (!(error instanceof FileFault)) throw error
      faults.push({
        name: fileName,
        source: layer.source,
        path: layer.path,
        reason: `${resolve(file)} ${error.message}`,
      })
    }
  }
  return { secrets, faults }
}

/** @throws {FileFault} */
function readSecret(path: string): string {
  const secret = readSmallFile(path, maxBytes)
    .toString('utf8')
    .replace(/\r?\n$/, '')
  if (secret === '') throw new FileFault('is empty')
  return secret
}
