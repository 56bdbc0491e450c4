/**
 * Mnemonic words → wallet seed, by the rule of the Identus libraries (deterministic did:prism generation; wire.md 11.3), which is not
 * that of BIP-39: the words and their checksum are BIP-39's, but the salt has no `mnemonic` before the passphrase.
 */
import { pbkdf2Sync } from 'node:crypto'
import { validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'

const lengths = [12, 15, 18, 21, 24]

const known = new Set(wordlist)

/**
 * The seed, 64 bytes, of 12 to 24 English words with white space between them. The errors tell places, never words.
 *
 * A seed by BIP-39 itself has `mnemonic` and its passphrase as the `passphrase` here; so have those of the TypeScript SDK's `createSeed`.
 *
 * @throws {TypeError} when there are too few or too many words, one is not on the list, or the checksum in the last one is wrong.
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
