/** `agent did`, and the seeds of `agent wallet create`. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seedOfMnemonic } from '../../src/foundation/crypto/mnemonic.ts'
import { fails, newUser, prints, says, saysOnly, type User, words } from './_cli.ts'
import { serveUser } from './_agents.ts'

const mnemonic =
  'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about'

/** A user with an agent. */
type Served = User & { leave: () => Promise<void> }

/** Creates a user with an agent that has these environment variables. */
async function userOf(variables: Record<string, string> = {}): Promise<Served> {
  const user = newUser()
  const agent = await serveUser(user, variables)
  const leave = async () => {
    await agent[Symbol.asyncDispose]()
    user.remove()
  }
  return { ...user, leave }
}

describe('a DID', () => {
  let user: Served
  beforeAll(async () => (user = await userOf()))
  afterAll(() => user.leave())

  test('is created from flags, published, updated and deactivated, each confirmed by the ledger', async () => {
    const keys = words`--key login:authentication:Ed25519 --key issue-1:assertionMethod --internal-key vdr-1`
    const rest = words`--service site,LinkedDomains,https://example.com --context https://example.com/context`
    const made = await user.json`did create --publish --wait ${keys} ${rest}`
    const { did } = made
    expect(made).toEqual({
      did,
      longFormDid: expect.stringContaining(`${did}:`),
      scheduledOperation: { id: expect.stringMatching(/^[0-9a-f]{64}$/), didRef: did },
      status: 'PUBLISHED',
    })
    const rotation = ['--add-key', 'issue-2:assertionMethod', '--remove-key', 'issue-1', '--clear-contexts']
    const service = '{"id":"b","type":["B"],"serviceEndpoint":{"uri":"b:c"}}'
    const services = ['--update-service', 'site,,https://new.example.com', '--add-service', service]
    const rotated = await user.json`did update ${did} --wait ${rotation} ${services}`
    expect(rotated).toMatchObject({ did, status: 'PUBLISHED', scheduledOperation: { didRef: did } })

    const resolved = await user.json`did resolve ${did}`
    expect(resolved.didDocument).toMatchObject({
      authentication: [`${did}#login`],
      assertionMethod: [`${did}#issue-2`],
      service: [
        { id: `${did}#site`, type: 'LinkedDomains', serviceEndpoint: 'https://new.example.com/' },
        { id: `${did}#b`, serviceEndpoint: { uri: 'b:c' } },
      ],
    })
    expect(resolved.didDocument['@context']).not.toContain('https://example.com/context')
    expect(resolved).toMatchObject({
      didDocumentMetadata: { deactivated: false },
      didResolutionMetadata: {},
    })
    expect(JSON.parse((await user.run(words`did resolve -`, { input: `${did}\n` })).out)).toEqual(
      resolved.didDocument,
    )

    const again = await user.run`did update ${did} --add-key issue-1:assertionMethod`
    expect(again).toMatchObject(fails(2, '"issue-1" exists or existed'))
    expect(await user.run`did deactivate ${did}`).toMatchObject(fails(2, '--yes'))
    expect(await user.run`did deactivate ${did} --yes --wait`).toMatchObject(
      prints(0, /state +PUBLISHED \(deactivated for good\)$/),
    )
    expect(await user.json`did show ${did}`).toEqual({ did, status: 'PUBLISHED', deactivated: true })
    expect((await user.run`did list`).out).toContain(`${did}  PUBLISHED (deactivated for good)`)
    expect(await user.run`did resolve ${did}`).toMatchObject(fails(3, 'deactivated'))
    expect((await user.run`did deactivate ${did} -y`).code).toBe(5)
    expect((await user.run`did update ${did} --remove-key login`).code).toBe(5)
  })

  test('is created from a complete template and updated by complete actions', async () => {
    const template = join(user.folder, 'template.json')
    writeFileSync(
      template,
      '{"documentTemplate":{"publicKeys":[{"id":"k","purpose":"keyAgreement","curve":"X25519"}]}}',
    )
    const { did, longFormDid } = await user.json`did create --template @${template}`
    expect((await user.json`did resolve ${longFormDid}`).didDocument.keyAgreement).toEqual([
      `${longFormDid}#k`,
    ])
    expect(await user.run`did update ${did} --remove-key k`).toMatchObject(fails(5, 'PUBLISHED'))
    expect(await user.run`did show ${did}`).toMatchObject(says(`agent did publish ${did}`))
    expect((await user.json`did publish ${did} --wait`).status).toBe('PUBLISHED')

    const actions =
      '[{"actionType":"ADD_SERVICE","addService":{"id":"s","type":"A","serviceEndpoint":"a:b"}},{"actionType":"REMOVE_SERVICE","removeService":{"id":"s"}}]'
    expect((await user.run(words`did update ${did} --actions @- --wait`, { input: actions })).code).toBe(0)
    expect((await user.json`did resolve ${did}`).didDocument.service).toEqual([])
  })

  test('of method web is available immediately', async () => {
    const { did } = await user.json`did create --method web --name acme --key a:assertionMethod`
    expect(did).toMatch(/^did:web:.*:acme$/)
    expect(await user.run`did create --method web --name acme`).toMatchObject({
      code: 5,
      out: '',
    })
    const changed = await user.run`did update ${did} --add-key b:authentication`
    expect(changed).toMatchObject({ code: 0, out: expect.stringMatching(/state +changed$/) })
    expect((await user.json`did resolve ${did}`).didDocument).toMatchObject({
      authentication: [`${did}#b`],
      assertionMethod: [`${did}#a`],
    })
    expect((await user.json`did deactivate ${did} --yes --wait`).deactivated).toBe(true)
    expect((await user.run`did resolve ${did}`).code).toBe(3)
  })

  test('that is a key is created, restored, and not changed', async () => {
    const { did } = await user.json`did create --method jwk`
    const shown = await user.run`did create --method key --curve secp256k1`
    expect(shown).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^did +did:key:z\S+\nstate +PUBLISHED/),
    })
    expect((await user.json`did resolve ${did}`).didDocument).toMatchObject({ assertionMethod: [`${did}#0`] })
    expect(await user.json`did restore --did ${did}`).toEqual({ restored: [] })
    expect(await user.run`did update ${did} --add-key b:authentication`).toMatchObject({ code: 5, out: '' })
  })

  test.each([
    [
      'keys in two ways',
      ['did', 'create', '--key', 'a:authentication', '--auth-curve', 'none'],
      '--auth-curve',
    ],
    ['a curve without did:key', ['did', 'create', '--curve', 'P-256'], '--method key'],
    [
      'a service of a did:jwk',
      ['did', 'create', '--method', 'jwk', '--service', 's,A,https://a.example'],
      '--service needs --method prism',
    ],
    [
      'a curve of several keys with a did:key',
      ['did', 'create', '--method', 'key', '--auth-curve', 'none'],
      '--auth-curve needs',
    ],
    ['a name without did:web', ['did', 'create', '--name', 'acme'], '--method web'],
    ['a time to wait without waiting', ['did', 'publish', 'did:prism:x', '--timeout', '5s'], '--wait'],
    ['a time that is none', ['did', 'publish', 'did:prism:x', '--wait', '--timeout', 'long'], '--timeout'],
    ['a DID that is none', ['did', 'show', 'did:prism:x'], 'did:prism:x'],
    ['no DID', ['did', 'resolve', '-'], 'no DID'],
  ])('with %s is a usage error (2)', async (_, args, reason) => {
    expect(await user.run(args)).toMatchObject({ code: 2, out: '', err: expect.stringContaining(reason) })
  })

  test('that violates a method rule is rejected (2), and one of another wallet is not found (3)', async () => {
    const before = (await user.json`did list`).contents.length
    const refused = await user.run`did create --key a:keyAgreement:Ed25519 --json`
    expect({ code: refused.code, ...JSON.parse(refused.err) }).toMatchObject({
      code: 'UnprocessableEntity',
      status: 422,
      exitCode: 2,
    })
    expect((await user.json`did list`).contents).toHaveLength(before)
    const stranger = `did:prism:${'ab'.repeat(32)}`
    const outcomes = await Promise.all(
      [['show'], ['update', '--remove-key', 'a']].map(
        ([verb, ...flags]) => user.run`did ${verb!} ${stranger} ${flags}`,
      ),
    )
    const notFound = { code: 3, out: '', err: expect.stringContaining('agent did list') }
    expect(outcomes).toMatchObject([notFound, notFound])
  })

  test('has help that starts with examples', async () => {
    const { code, out } = await user.run`did update --help`
    expect(code).toBe(0)
    const [first, second] = out
      .split('\n')
      .slice(1)
      .filter((line) => line !== '')
    expect(first).toBe('EXAMPLES')
    expect(second).toMatch(/^ {2}\$ agent did update /)
  })
})

test('waiting for a slow ledger ends at the timeout (6), and the DID shows the pending operation', async () => {
  const user = await userOf({ VDR_CONFIRM_AFTER: '1h' })
  try {
    const failed = await user.run`did create --publish --wait --timeout 1s`
    expect(failed).toMatchObject(fails(6, /did:prism:[0-9a-f]{64} is created, but not yet published/))
    const [did] = (await user.run`did list -q`).out.split('\n')
    expect(failed.err).toContain(`agent did show ${did}`)
    expect(await user.run`did publish ${did!} --wait --timeout 1s`).toMatchObject(fails(6, 'Timed out'))
    const shown = await user.run`did show ${did!}`
    expect(shown.out).toMatch(
      /state +PUBLICATION_PENDING \(on its way to the ledger\)\noperation +[0-9a-f]{64}$/,
    )
    expect(shown.err).toContain(`agent did show ${did}`)
  } finally {
    await user.leave()
  }
})

describe('wallets of one seed on two agents with one ledger', () => {
  let first: Served
  let second: Served
  beforeAll(async () => {
    first = await userOf()
    second = await userOf({ VDR_URL: `sqlite:${join(first.folder, 'data', 'vdr.db')}` })
  })
  afterAll(async () => {
    await second.leave()
    await first.leave()
  })

  /** Creates a wallet. Returns the environment of its tenant. */
  async function tenant(user: User, seed: readonly string[], input: string): Promise<Record<string, string>> {
    const made = await user.run(words`wallet create restored ${seed} --json`, { input })
    expect(made).toMatchObject({ code: 0, err: '' })
    const { apiKey } = await user.json`tenant create somebody --wallet ${JSON.parse(made.out).id}`
    return { AGENT_API_KEY: apiKey }
  }

  test('have the same DIDs, found and changed from either side', async () => {
    const before = await tenant(first, ['--mnemonic-file', '-'], `${mnemonic}\n`)
    const plain = (await first.as(before).json`did create --publish --wait --key a:assertionMethod`).did
    const mixed = (await first.as(before).json`did create --publish --wait --key b:authentication:Ed25519`)
      .did
    const own = await first.as(before).json`did create`

    const seedFile = join(second.folder, 'seed.hex')
    writeFileSync(seedFile, Buffer.from(seedOfMnemonic(mnemonic)).toString('hex'), { mode: 0o600 })
    const after = await tenant(second, ['--seed-file', seedFile], '')
    expect((await second.as(after).run`did list`).err).toContain('agent did restore')
    const found = await second.as(after).run`did restore`
    expect(found).toMatchObject(says(`agent did update ${mixed} --remove-key b`))
    expect(found.out.split('\n').slice(1)).toEqual([`${plain}  PUBLISHED  none`, `${mixed}  PUBLISHED  b`])
    expect(await second.as(after).json`did restore`).toEqual({ restored: [] })
    expect(await second.as(after).run`did restore`).toMatchObject(saysOnly('Nothing'))
    expect(await second.as(after).json`did create`).toEqual(own)

    expect((await second.as(after).run`did update ${plain} --add-key c:authentication --wait`).code).toBe(0)
    const late = ['did', 'update', plain, '--remove-key', 'a', '--wait']
    const rejected = await first.as(before).run`${late} --json`
    expect(rejected).toMatchObject({ code: 1, out: '' })
    expect(JSON.parse(rejected.err)).toMatchObject({
      title: expect.stringContaining('previous_operation_hash'),
      exitCode: 1,
    })
    expect((await first.as(before).run`did show ${plain}`).out).toMatch(
      /last failure .*previous_operation_hash/,
    )
    // Publishing a published DID succeeds, even after a rejected operation.
    expect((await first.as(before).run`did publish ${plain} --wait`).code).toBe(0)
    expect((await first.run(late, { env: before })).code).toBe(0)
    const { didDocument } = await second.json`did resolve ${plain}`
    expect(didDocument).toMatchObject({ authentication: [`${plain}#c`], assertionMethod: [] })
  })

  test('cannot exist twice on one agent (5), and their secrets are not printed', async () => {
    const other = mnemonic.replaceAll('abandon', 'zoo').replace('about', 'wrong')
    const file = join(first.folder, 'words')
    writeFileSync(file, other, { mode: 0o644 })
    const made = await first.run`wallet create one --mnemonic-file ${file}`
    expect(made).toMatchObject({ code: 0, err: expect.stringMatching(/chmod 600[^]*agent did restore/) })
    const twin = await first.run(words`wallet create two --mnemonic-file -`, { input: other })
    expect(twin).toMatchObject({ code: 5, out: '', err: expect.stringContaining('seed') })
    for (const { out, err } of [made, twin]) expect(out + err).not.toMatch(/zoo|[0-9a-f]{128}/)
  })
})

test('a typed seed, or two seeds, is a usage error (2)', async () => {
  using user = newUser()
  for (const flags of [
    ['--seed-file', 'ab'.repeat(64)],
    ['--mnemonic-file', mnemonic],
    ['--seed-file', 'a', '--mnemonic-file', 'b'],
  ]) {
    const { code, out, err } = await user.run`wallet create x ${flags}`
    expect({ code, out, err }).toMatchObject({ code: 2, out: '', err: expect.stringContaining(flags[0]!) })
    expect(err).not.toMatch(/abandon|abab/)
  }
})
