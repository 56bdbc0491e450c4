/** The passphrase of an export: from a file, from standard input, or asked for. Never an argument, which `ps` and one's own history show. */
import * as Flags from '@oclif/core/flags'
import { UsageError } from '../errors/usage.ts'
import { askSecret, canAsk } from '../prompts/ask.ts'
import { readSecretFile } from './secret-file.ts'

export const passphraseFlags = {
  'passphrase-file': Flags.string({
    description: 'file of the passphrase, - for standard input; asked for when left out',
  }),
}

type Options = { json: boolean; quiet: boolean; warn: (text: string) => void; isNew?: boolean }

/** What a new one must have. */
const shortest = 12

/**
 * Reads the passphrase; a new one that is asked for is asked for twice.
 *
 * @throws {UsageError} when there is none, and nobody to ask, or a new one is too short. @throws {CommandError} 130 on Ctrl-C.
 */
export async function readPassphrase(
  { 'passphrase-file': file }: { 'passphrase-file'?: string | undefined },
  { json, quiet, warn, isNew = false }: Options,
): Promise<string> {
  const tooShort = (text: string) =>
    isNew && text.length < shortest ? `It takes at least ${shortest} characters.` : undefined
  if (file !== undefined) {
    const passphrase = readSecretFile('passphrase-file', file, warn)
    const fault = tooShort(passphrase)
    if (fault !== undefined) throw new UsageError(`--passphrase-file: ${fault}`)
    return passphrase
  }
  if (!canAsk({ json, quiet }))
    throw new UsageError(
      '--passphrase-file: there is nobody to ask for the passphrase. Give its file, or - for standard input.',
    )
  const passphrase = await askSecret('Passphrase', tooShort)
  if (isNew)
    await askSecret('Once more', (again) =>
      again === passphrase ? undefined : 'That is another one. Ctrl-C leaves.',
    )
  return passphrase
}
