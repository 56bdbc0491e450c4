/** The flags, files and prompts of the commands about DIDs and wallets. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { UsageError } from '../../cli/errors/errors.ts'
import { explainDid, nextForDid } from '../../cli/format/records.ts'
import { readKey, readService, readServicePatch, readActions } from '../../cli/input/did.ts'
import { curves, purposes } from '../../src/definitions/did-names.ts'
import { readSeed } from '../../cli/input/secrets.ts'
import { confirm } from '../../cli/prompts/ask.ts'
import { ManagedDidKeyTemplate } from '../../src/wallet/did-registrar/model.ts'
import { seedOfMnemonic } from '../../src/foundation/crypto/mnemonic.ts'

let folder: string
const file = (name: string, text: string) => {
  const path = join(folder, name)
  writeFileSync(path, text)
  chmodSync(path, 0o600)
  return path
}
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'did-input-'))))
afterAll(() => rmSync(folder, { recursive: true }))

describe('a key', () => {
  test.each([
    ['a:authentication', { id: 'a', purpose: 'authentication' }],
    ['a:keyAgreement:X25519', { id: 'a', purpose: 'keyAgreement', curve: 'X25519' }],
    ['a:b:assertionMethod:Ed25519', { id: 'a:b', purpose: 'assertionMethod', curve: 'Ed25519' }],
    ['Ed25519:authentication', { id: 'Ed25519', purpose: 'authentication' }],
  ])('%s', (text, key) => {
    expect(readKey('key', text)).toEqual(key)
  })

  test.each(['a', '', ':authentication', 'a:auth', 'authentication:Ed25519', 'a:Ed25519'])(
    'rejects %j',
    (text) => {
      expect(() => readKey('add-key', text)).toThrow(/--add-key .*id:purpose/)
    },
  )

  test('on an unknown curve is rejected with the known curves', () => {
    expect(() => readKey('key', 'a:authentication:P-384')).toThrow('secp256k1, Ed25519, X25519, P-256')
  })

  test('has the purposes and curves of the API', () => {
    expect(ManagedDidKeyTemplate.shape.purpose.options).toEqual(purposes)
    for (const curve of curves)
      expect(ManagedDidKeyTemplate.parse({ id: 'a', purpose: purposes[0], curve })).toMatchObject({ curve })
  })
})

describe('a service', () => {
  const site = { id: 'site', type: 'LinkedDomains', serviceEndpoint: 'https://example.com/?a,b' }

  test('has three parts, the last of which may contain commas, or is JSON, inline or in a file', () => {
    expect(readService('service', 'site,LinkedDomains,https://example.com/?a,b')).toEqual(site)
    expect(readService('service', JSON.stringify(site))).toEqual(site)
    expect(readService('service', `@${file('service.json', JSON.stringify(site))}`)).toEqual(site)
  })

  test.each([
    'site',
    'site,LinkedDomains',
    ',LinkedDomains,https://example.com',
    'site,,https://example.com',
    '{"id":"site"}',
    '{',
  ])('rejects %j', (text) => {
    expect(() => readService('service', text)).toThrow(UsageError)
  })

  test('in an update may omit one part, not both', () => {
    expect(readServicePatch('update-service', 'site,,https://example.com')).toEqual({
      id: 'site',
      serviceEndpoint: 'https://example.com',
    })
    expect(readServicePatch('update-service', 'site,DIDCommMessaging,')).toEqual({
      id: 'site',
      type: 'DIDCommMessaging',
    })
    expect(() => readServicePatch('update-service', 'site,,')).toThrow('id,type,endpoint')
  })
})

describe('the actions of an update', () => {
  test('are removals, changes, additions and contexts, in this order', () => {
    const actions = readActions({
      'add-service': ['s2,A,https://a.example'],
      'add-key': ['k2:authentication', 'k3:assertionMethod'],
      'add-internal-key': ['v2'],
      'update-service': ['s1,B,'],
      'remove-service': ['s0'],
      'remove-internal-key': ['v1'],
      'remove-key': ['k0', 'k1'],
      context: ['https://a.example', 'https://b.example'],
    })
    expect(actions).toEqual([
      { actionType: 'REMOVE_KEY', removeKey: { id: 'k0' } },
      { actionType: 'REMOVE_KEY', removeKey: { id: 'k1' } },
      { actionType: 'REMOVE_INTERNAL_KEY', removeInternalKey: { id: 'v1' } },
      { actionType: 'REMOVE_SERVICE', removeService: { id: 's0' } },
      { actionType: 'UPDATE_SERVICE', updateService: { id: 's1', type: 'B' } },
      { actionType: 'ADD_KEY', addKey: { id: 'k2', purpose: 'authentication' } },
      { actionType: 'ADD_KEY', addKey: { id: 'k3', purpose: 'assertionMethod' } },
      { actionType: 'ADD_INTERNAL_KEY', addInternalKey: { id: 'v2', purpose: 'vdr' } },
      {
        actionType: 'ADD_SERVICE',
        addService: { id: 's2', type: 'A', serviceEndpoint: 'https://a.example' },
      },
      { actionType: 'PATCH_CONTEXT', patchContext: { contexts: ['https://a.example', 'https://b.example'] } },
    ])
  })

  test('accept --clear flags, a list of actions or the body of the API', () => {
    expect(readActions({ 'clear-contexts': true })).toEqual([
      { actionType: 'PATCH_CONTEXT', patchContext: { contexts: [] } },
    ])
    const actions = [{ actionType: 'REMOVE_KEY', removeKey: { id: 'a' } }]
    expect(readActions({ actions: JSON.stringify(actions) })).toEqual(actions)
    expect(readActions({ actions: `@${file('actions.json', JSON.stringify({ actions }))}` })).toEqual(actions)
  })

  test('must be a non-empty list', () => {
    expect(() => readActions({})).toThrow('nothing to change')
    expect(() => readActions({ actions: '{}' })).toThrow('not a JSON array')
    expect(() => readActions({ actions: '[]', 'remove-key': ['a'] })).toThrow('cannot be combined')
  })
})

describe('a seed', () => {
  const words =
    'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'
  const seed = (passphrase?: string) => Buffer.from(seedOfMnemonic(words, passphrase)).toString('hex')
  const silent = () => undefined

  test('is read from a file or derived from words', async () => {
    expect(await readSeed({}, silent)).toBeUndefined()
    expect(await readSeed({ 'seed-file': file('seed', `${'0f'.repeat(64)}\n`) }, silent)).toBe(
      '0f'.repeat(64),
    )
    const mnemonic = file('words', `  ${words.replaceAll(' ', '\n')}\n\n`)
    expect(await readSeed({ 'mnemonic-file': mnemonic }, silent)).toBe(seed())
    const passphrase = file('passphrase', ' of mine \n')
    expect(await readSeed({ 'mnemonic-file': mnemonic, 'passphrase-file': passphrase }, silent)).toBe(
      seed(' of mine '),
    )
  })

  test.each([
    ['seed-file', '0f'.repeat(63)],
    ['seed-file', 'zz'.repeat(64)],
    ['seed-file', ''],
    ['mnemonic-file', words.replace('about', 'abandon')],
    ['mnemonic-file', words.replace('about', 'secretword')],
    ['mnemonic-file', 'abandon about'],
  ])('rejects an invalid %s without printing it', async (flag, text) => {
    const error: Error = await readSeed({ [flag]: file('wrong', text) }, silent).then(
      () => new Error('it was read'),
      (thrown: Error) => thrown,
    )
    expect(error).toBeInstanceOf(UsageError)
    expect(error.message).toContain(`--${flag}`)
    expect(error.message).not.toMatch(/abandon|secretword|0f0f|zz/)
  })

  test('that is typed instead of its file name is not printed', async () => {
    await expect(readSeed({ 'seed-file': '0f'.repeat(64) }, silent)).rejects.toThrow(
      /^(?!.*0f0f)--seed-file: the file cannot be read/,
    )
    await expect(readSeed({ 'mnemonic-file': words }, silent)).rejects.toThrow(
      /^(?!.*abandon)--mnemonic-file: the file cannot be read/,
    )
  })

  test('cannot share standard input with its passphrase', async () => {
    await expect(readSeed({ 'mnemonic-file': '-', 'passphrase-file': '-' }, silent)).rejects.toThrow(
      'standard input',
    )
  })

  test.skipIf(process.platform === 'win32')(
    'in a file that others can read is read, with a warning',
    async () => {
      const path = file('open', '0f'.repeat(64))
      const warnings: string[] = []
      await readSeed({ 'seed-file': path }, (text) => warnings.push(text))
      expect(warnings).toEqual([])
      for (const mode of [0o640, 0o604]) {
        chmodSync(path, mode)
        await readSeed({ 'seed-file': path }, (text) => warnings.push(text))
      }
      expect(warnings).toEqual([expect.stringContaining('chmod 600'), expect.stringContaining('chmod 600')])
    },
  )
})

describe('a confirmation', () => {
  const terminal = () => ({
    input: Object.assign(new PassThrough(), { isTTY: true }),
    output: Object.assign(new PassThrough(), { isTTY: true }),
  })

  test.each(['y', 'yes', 'YES', ' y '])('is accepted with %j', async (answer) => {
    const { input, output } = terminal()
    const asked = confirm('Go on?', { input, output })
    input.write(`${answer}\n`)
    await asked
    expect(String(output.read())).toContain('Go on? [y/N] ')
  })

  test.each(['n\n', '\n', 'yesterday\n', '\u0004'])('is declined with %j', async (answer) => {
    const { input, output } = terminal()
    const asked = confirm('Go on?', { input, output })
    input.write(answer)
    await expect(asked).rejects.toMatchObject({ exitCode: 1 })
  })

  test('ends with Ctrl-C and closes the input', async () => {
    const interrupted = terminal()
    const asked = confirm('Go on?', interrupted)
    interrupted.input.write('\u0003')
    await expect(asked).rejects.toMatchObject({ exitCode: 130 })
    const ended = terminal()
    const unanswered = confirm('Go on?', ended)
    ended.input.end()
    await expect(unanswered).rejects.toMatchObject({ exitCode: 1 })
  })

  test('requires a terminal', async () => {
    await expect(confirm('Go on?', { input: new PassThrough(), output: terminal().output })).rejects.toThrow(
      '--yes',
    )
    await expect(confirm('Go on?', { input: terminal().input, output: new PassThrough() })).rejects.toThrow(
      '--yes',
    )
  })
})

test('a DID shows its pending operation and the next command', () => {
  const did = 'did:prism:x'
  const published = { did, status: 'PUBLISHED' } as const
  const cases = [
    [{ did, status: 'CREATED' }, 'CREATED (not on the ledger)', 'agent did publish did:prism:x'],
    [
      { did, status: 'PUBLICATION_PENDING', pendingOperation: 'a' },
      'PUBLICATION_PENDING (on its way to the ledger)',
      /^agent did show .* # again/,
    ],
    [published, 'PUBLISHED', 'agent did resolve did:prism:x'],
    [
      { ...published, pendingOperation: 'a' },
      'PUBLISHED (a change is on its way to the ledger)',
      /^agent did show .* # again/,
    ],
    [{ ...published, deactivated: true }, 'PUBLISHED (deactivated for good)', 'agent did create'],
  ] as const
  for (const [shown, words, next] of cases) {
    expect(explainDid(shown)).toBe(words)
    expect(nextForDid(shown)).toMatch(next)
  }
})
