/** The seed of a wallet from files: itself, or the words that it is made of. */
import * as Flags from '@oclif/core/flags'
import { UsageError } from '../errors/usage.ts'
import { readSecretFile } from './secret-file.ts'

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
