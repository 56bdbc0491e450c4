/**
 * Passphrases, seeds and API keys. A secret comes from a file or from standard input, never from a flag: `ps` and the shell history show
 * flags.
 */
import { rmSync, statSync, writeFileSync } from 'node:fs'
import * as Flags from '@oclif/core/flags'
import { newApiKey } from '../../src/base/secret.ts'
import { systemReason } from '../../src/base/reason.ts'
import { UsageError } from '../errors/errors.ts'
import { askSecret, canAsk } from '../prompts/ask.ts'
import { readInput } from './files.ts'

/** Bits of a file's mode that let others than its owner read it. */
const readableByOthers = 0o044

/**
 * Reads a secret from the file at `path`, or from standard input for `-`; the newline at its end is taken off. `warn` is told when
 * others on this machine can read the file.
 *
 * @throws {UsageError} when it cannot be read or is empty; without the path, which may be the secret itself, typed by mistake.
 */
export function readSecretFile(flag: string, path: string, warn: (text: string) => void): string {
  let text: string
  try {
    text = readInput(path).replace(/\r?\n$/, '')
    if (path !== '-' && isReadableByOthers(path))
      warn(`--${flag}: others on this machine can read that file. Make it yours: chmod 600.`)
  } catch (error) {
    throw new UsageError(
      `--${flag}: that file cannot be read: ${systemReason(error)}. It takes the name of a file, or - for standard input.`,
    )
  }
  if (text === '') throw new UsageError(`--${flag}: it is empty.`)
  return text
}

function isReadableByOthers(path: string): boolean {
  const stat = statSync(path)
  // A pipe, such as the shell's `<(…)`, is nobody else's, and on Windows the mode says nothing.
  return stat.isFile() && process.platform !== 'win32' && (stat.mode & readableByOthers) !== 0
}

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

export const seedFlags = {
  'seed-file': Flags.string({
    exclusive: ['mnemonic-file'],
    description:
      'file of the wallet’s seed, 128 hexadecimal digits, - for standard input; a random one when left out',
  }),
  'mnemonic-file': Flags.string({
    description: 'file of 12 to 24 English words that make the seed, - for standard input',
  }),
  'passphrase-file': Flags.string({
    dependsOn: ['mnemonic-file'],
    description: 'file of the passphrase that goes with the words',
  }),
}

type Given = { [Name in keyof typeof seedFlags]?: string | undefined }

/**
 * The seed in hexadecimal; nothing when no flag names one. No error quotes any of it.
 *
 * @throws {UsageError} when a file cannot be read, or holds no seed or no mnemonic.
 */
export async function readSeed(flags: Given, warn: (text: string) => void): Promise<string | undefined> {
  const { 'seed-file': seedFile, 'mnemonic-file': mnemonicFile, 'passphrase-file': passphraseFile } = flags
  if (seedFile !== undefined) {
    const seed = readSecretFile('seed-file', seedFile, warn).trim()
    if (!/^[0-9a-f]{128}$/i.test(seed))
      throw new UsageError('--seed-file: what it holds is not 128 hexadecimal digits (64 bytes).')
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
  const { seedOfMnemonic } = await import('../../src/crypto/mnemonic.ts')
  try {
    return Buffer.from(seedOfMnemonic(words, passphrase)).toString('hex')
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new UsageError(`--mnemonic-file: ${error.message}.`)
  }
}

export const newKeyFlags = {
  'key-file': Flags.string({ description: 'write the key to this new file (0600) and do not show it' }),
}

/** A new key, in the file already where one is named. @throws {UsageError} when that cannot be written. */
export function makeKey(file: string | undefined): string {
  const key = newApiKey()
  if (file !== undefined) writeKey(file, `${key}\n`, 'wx')
  return key
}

/**
 * Has `make` make a key, and puts it into the file where one is named. The file is there before: a key that cannot be kept would let
 * nobody in.
 *
 * @throws {UsageError} when it cannot be written; and what `make` throws, and then there is no file.
 */
export async function keepKey<Made extends { apiKey: string }>(
  file: string | undefined,
  make: () => Promise<Made>,
): Promise<Made> {
  if (file === undefined) return make()
  writeKey(file, '', 'wx')
  try {
    const made = await make()
    writeKey(file, `${made.apiKey}\n`, 'w')
    return made
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
