/**
 * Passphrases, seeds and API keys. A secret comes from a file or from standard input, never from a flag: `ps`
 * and the shell history show flags.
 */
import { rmSync, statSync, writeFileSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import { newApiKey } from '../../src/foundation/api-key.ts'
import { systemReason } from '../../src/foundation/system-reason.ts'
import { UsageError } from '../errors/errors.ts'
import { askSecret, canAsk } from '../prompts/ask.ts'
import { readInput } from './files.ts'

/** Permission bits that let other users read a file. */
const readableByOthers = 0o044

/**
 * Reads a secret from a file, or from standard input for `-`, without its final newline. Calls `warn` if
 * other users can read the file.
 *
 * @throws {UsageError} when it cannot be read or is empty. The error does not contain the path, which may be
 * the secret itself, typed by mistake.
 */
export function readSecretFile(flag: string, path: string, warn: (text: string) => void): string {
  let text: string
  try {
    text = readInput(path).replace(/\r?\n$/, '')
    if (path !== '-' && isReadableByOthers(path))
      warn(`--${flag}: others on this machine can read that file. Make it yours: chmod 600.`)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(
      `--${flag}: the file cannot be read: ${systemReason(error)}. Give the name of a file, or - for standard input.`,
    )
  }
  if (text === '') throw new UsageError(`--${flag}: the secret is empty.`)
  return text
}

function isReadableByOthers(path: string): boolean {
  const stat = statSync(path)
  // A pipe, such as `<(…)` of a shell, has no other readers. On Windows the mode has no meaning.
  return stat.isFile() && process.platform !== 'win32' && (stat.mode & readableByOthers) !== 0
}

export const passphraseFlags = {
  'passphrase-file': Flags.string({
    description: 'file of the passphrase, - for standard input; default: asks at the terminal',
  }),
}

type Options = { json: boolean; quiet: boolean; warn: (text: string) => void; isNew?: boolean }

const shortest = 12

/**
 * Reads the passphrase. A new one that is entered at the terminal is entered twice.
 *
 * @throws {UsageError} when there is none and no terminal, or a new one is too short. @throws {CommandError}
 * 130 on Ctrl-C.
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
      '--passphrase-file: there is no terminal to ask for the passphrase. Name its file, or - for standard input.',
    )
  const passphrase = await askSecret('Passphrase', tooShort)
  if (isNew)
    await askSecret('Once more', (again) =>
      again === passphrase ? undefined : 'That is another one. Ctrl-C leaves.',
    )
  return passphrase
}

export const seedFlags = {
  'seed-file': Flags.string({
    exclusive: ['mnemonic-file'],
    description: 'file of the seed, 128 hexadecimal digits, - for standard input; default: a random seed',
  }),
  'mnemonic-file': Flags.string({
    description: 'file of a mnemonic of 12 to 24 English words, - for standard input',
  }),
  'passphrase-file': Flags.string({
    dependsOn: ['mnemonic-file'],
    description: 'file of the passphrase of the mnemonic',
  }),
}

type SeedFlags = { [Name in keyof typeof seedFlags]?: string | undefined }

/**
 * Reads the seed in hexadecimal; undefined without a flag. Errors do not quote it.
 *
 * @throws {UsageError} when a file cannot be read, or has no seed or no mnemonic.
 */
export async function readSeed(flags: SeedFlags, warn: (text: string) => void): Promise<string | undefined> {
  const { 'seed-file': seedFile, 'mnemonic-file': mnemonicFile, 'passphrase-file': passphraseFile } = flags
  if (seedFile !== undefined) {
    const seed = readSecretFile('seed-file', seedFile, warn).trim()
    if (!/^[0-9a-f]{128}$/i.test(seed))
      throw new UsageError('--seed-file: the content is not 128 hexadecimal digits (64 bytes).')
    return seed
  }
  if (mnemonicFile === undefined) return undefined
  if (mnemonicFile === '-' && passphraseFile === '-')
    throw new UsageError(
      '--mnemonic-file and --passphrase-file cannot both be standard input: give a file for one of them.',
    )
  const words = readSecretFile('mnemonic-file', mnemonicFile, warn)
  const passphrase =
    passphraseFile === undefined ? '' : readSecretFile('passphrase-file', passphraseFile, warn)
  const { seedOfMnemonic } = await import('../../src/foundation/crypto/mnemonic.ts')
  try {
    return Buffer.from(seedOfMnemonic(words, passphrase)).toString('hex')
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(`--mnemonic-file: ${error.message}.`)
  }
}

export const newKeyFlags = {
  'key-file': Flags.string({ description: 'write the key to this new file (0600) and do not print it' }),
}

/**
 * Creates an API key and writes it to the file, if one is named. @throws {UsageError} when the file cannot be
 * written.
 */
export function makeKey(file: string | undefined): string {
  const key = newApiKey()
  if (file !== undefined) writeKey(file, `${key}\n`, 'wx')
  return key
}

/**
 * Has the daemon create an API key, and writes it to the file, if one is named. The file is created first: a
 * key that cannot be stored would be lost.
 *
 * @throws {UsageError} when the file cannot be written. @throws as `create`; the file is removed then.
 */
export async function keepKey<Made extends { apiKey: string }>(
  file: string | undefined,
  create: () => Promise<Made>,
): Promise<Made> {
  if (file === undefined) return create()
  writeKey(file, '', 'wx')
  try {
    const created = await create()
    writeKey(file, `${created.apiKey}\n`, 'w')
    return created
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}

function writeKey(file: string, text: string, flag: 'w' | 'wx'): void {
  try {
    writeFileSync(file, text, { mode: 0o600, flag })
  } catch (error) {
    throw new UsageError(
      `--key-file: ${file} cannot be written: ${systemReason(error)}. It must be a new file.`,
    )
  }
}
