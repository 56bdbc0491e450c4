/**
 * Converts a mnemonic to a wallet seed as the Identus libraries do, which differs from BIP-39: words and
 * checksum are the same, but the salt has no `mnemonic` before the passphrase.
 */
import { pbkdf2Sync } from 'node:crypto'
import { validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'

const lengths = [12, 15, 18, 21, 24]

const known = new Set(wordlist)

/**
 * The 64-byte seed of 12 to 24 English words, separated by white space. Error messages contain positions, not
 * words.
 *
 * For a seed by BIP-39, and for one of `createSeed` in the TypeScript SDK, pass `mnemonic` and the passphrase
 * as `passphrase`.
 *
 * @throws {TypeError} when the number of words, a word, or the checksum is wrong
 */
export function seedOfMnemonic(words: string, passphrase = ''): Uint8Array {
  const list = words.toLowerCase().split(/\s+/).filter(Boolean)
  if (!lengths.includes(list.length))
    throw new TypeError(`a mnemonic has 12, 15, 18, 21 or 24 words, not ${list.length}`)
  const unknown = list.flatMap((word, i) => (known.has(word) ? [] : [i + 1]))
  if (unknown.length > 0) {
    const [which, are] = unknown.length === 1 ? ['word', 'is'] : ['words', 'are']
    throw new TypeError(
      `${which} ${unknown.join(', ')} of the mnemonic ${are} not on the English list of BIP-39: look for a slip in writing`,
    )
  }
  const phrase = list.join(' ')
  if (!validateMnemonic(phrase, wordlist))
    throw new TypeError('the checksum of the mnemonic is wrong: a word is another one, or not in its place')
  return pbkdf2Sync(phrase, passphrase, 2_048, 64, 'sha512')
}
