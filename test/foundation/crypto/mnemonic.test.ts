import { readFileSync } from 'node:fs'
import { entropyToMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import { describe, expect, test } from 'vitest'
import { toHex } from '../../../src/foundation/bytes.ts'
import { seedOfMnemonic } from '../../../src/foundation/crypto/mnemonic.ts'

const { deterministic } = JSON.parse(
  readFileSync(new URL('../../../fixtures/did-prism/worked.json', import.meta.url), 'utf8'),
) as {
  deterministic: { mnemonic: string; seed: string }
}
const { mnemonic, seed } = deterministic
const words = mnemonic.split(' ')

function messageOf(phrase: string): string {
  try {
    seedOfMnemonic(phrase)
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
    return (error as TypeError).message
  }
  throw new Error('the words were not refused')
}

describe('the seed of a mnemonic', () => {
  test('is the published one', () => {
    expect(toHex(seedOfMnemonic(mnemonic))).toBe(seed)
  })

  // BIP-39's own vector (python-mnemonic) shows how the two rules relate.
  test('with the prefix in the passphrase is that of BIP-39', () => {
    const phrase = `${'abandon '.repeat(11)}about`
    expect(toHex(seedOfMnemonic(phrase, 'mnemonicTREZOR'))).toBe(
      'c55257c360c07c72029aebc1b53c05ed0362ada38ead3e3e9efa3708e53495531f09a6987599d18264c1e1c92f2cf141630c7a3c4ab7c81b2f001698e7463b04',
    )
    expect(seedOfMnemonic(phrase, 'TREZOR')).not.toEqual(seedOfMnemonic(phrase, 'mnemonicTREZOR'))
  })

  test('depends on the passphrase', () => {
    expect(toHex(seedOfMnemonic(mnemonic, ''))).toBe(seed)
    expect(toHex(seedOfMnemonic(mnemonic, ' '))).not.toBe(seed)
  })

  test('does not depend on white space and case', () => {
    const columns = words.map((word, i) => (i % 4 === 3 ? `${word}\r\n` : `${word}\t `)).join('')
    expect(toHex(seedOfMnemonic(`\n ${columns.toUpperCase()}\n`))).toBe(seed)
  })

  test.each([16, 20, 24, 28, 32])('is derived from the words for %i bytes', (length) => {
    expect(seedOfMnemonic(entropyToMnemonic(new Uint8Array(length).fill(7), wordlist))).toHaveLength(64)
  })
})

describe('invalid words are refused without being quoted', () => {
  test.each([
    ['none', '  ', 0],
    ['eleven', words.slice(0, 11).join(' '), 11],
    ['thirteen', words.slice(0, 13).join(' '), 13],
    ['twenty-seven', [...words, 'zoo', 'zoo', 'zoo'].join(' '), 27],
    ['one for all of them', words.join('-'), 1],
  ])('%s', (_name, phrase, count) => {
    expect(messageOf(phrase)).toBe(`a mnemonic has 12, 15, 18, 21 or 24 words, not ${count}`)
  })

  test('an unknown word is named by its position', () => {
    const message = messageOf(words.with(6, 'firmm').join(' '))
    expect(message).toMatch(/^word 7 of the mnemonic is not on the English list/)
    expect(message).not.toMatch(/firmm|vacuum/)
  })

  test('several unknown words are all named', () => {
    expect(messageOf(words.with(0, 'vaccum').with(23, 'knock.').join(' '))).toMatch(
      /^words 1, 24 of the mnemonic are not/,
    )
  })

  test('the checksum detects exchanged words and other words of the list', () => {
    for (const phrase of [words.with(0, 'only').with(1, 'vacuum'), words.with(23, 'zoo')]) {
      const message = messageOf(phrase.join(' '))
      expect(message).toMatch(/^the checksum of the mnemonic is wrong/)
      for (const word of ['vacuum', 'zoo', 'knock']) expect(message).not.toContain(word)
    }
  })
})
