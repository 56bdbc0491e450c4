/** Suggested commands can be pasted: they use the same daemon and the same key. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { expect, test } from 'vitest'
import { forSameDaemon } from '../../cli/format/next.ts'
import { readCommands } from '../../build/docs/manifest.ts'
import { newDid } from '../support/tenants.ts'
import { bin, fails, useUser, words } from './_cli.ts'
import { serveUser, startCommandedPair } from './_agents.ts'
import { untilEnd } from '../support/shared.ts'

const user = useUser()
const agent = await untilEnd(serveUser(user))

const identity = { url: 'http://a', profile: 'p', 'api-key-file': 'my key', 'admin-key-file': "it's" }

test('the flags of the daemon and the key are kept, quoted, before a comment', () => {
  expect(forSameDaemon('agent did list   # again', identity)).toBe(
    String.raw`agent did list --url http://a --profile p --api-key-file 'my key' --admin-key-file 'it'\''s'   # again`,
  )
  expect(forSameDaemon('agent did list', { 'api-key-file': '-' })).toBe('agent did list')
  for (const other of [{ profile: 'p' }, { url: 'http://a.example', 'api-key-file': 'a.key' }])
    expect(forSameDaemon('agent doctor --profile other', other)).toBe('agent doctor --profile other')
  expect(forSameDaemon('check --url', identity)).toBe('check --url')
})

test('a suggested command has only flags that it supports', () => {
  const wrong = readCommands().filter(({ id, flags }) => {
    const added = forSameDaemon(`agent ${id.replaceAll(':', ' ')}`, identity).match(/--([\w-]+)/g) ?? []
    return (
      added.some((flag) => !flags[flag.slice(2)]) ||
      (flags['url']?.helpGroup === 'DAEMON' && added.length !== 4)
    )
  })
  expect(wrong.map(({ id }) => id)).toEqual([])
})

test('the suggested commands lead from an offer to a proof, with the key in a file', async () => {
  await using pair = await startCommandedPair()
  const { issuer, holder, agent, user } = pair
  const keys = { issuer: 'the issuer.key', holder: 'the holder.key' }
  writeFileSync(join(user.folder, keys.issuer), issuer.apiKey)
  writeFileSync(join(user.folder, keys.holder), holder.apiKey)
  const env = {
    AGENT_CONFIG_DIR: join(user.folder, 'config'),
    NODE_ENV: 'production',
    NO_COLOR: '1',
    AGENT_API_KEY: '',
    AGENT_URL: '',
    AGENT_PROFILE: '',
  }
  /** Runs a line in a shell. Returns the first command that it suggests. */
  const paste = async (line: string): Promise<{ out: string; next: string }> => {
    const script = `agent() { "${process.execPath}" "${bin}" "$@"; }\n${line}`
    const { stdout, stderr, exitCode } = await execa('sh', ['-c', script], {
      cwd: user.folder,
      env,
      reject: false,
    })
    expect({ line, exitCode, stderr }).toMatchObject({ exitCode: 0 })
    return { out: stdout, next: /Next:\n {2}(.+)/.exec(stderr)?.[1] ?? '' }
  }
  const as = (who: 'issuer' | 'holder') => `--url ${agent.url} --api-key-file '${keys[who]}'`

  const issuingDid = (await newDid(issuer, 'assertionMethod')).longFormDid
  const did = await paste(`agent did create ${as('holder')}`)
  expect((await paste(did.next)).out).toContain('did:prism:')

  const invited = JSON.parse(
    (await paste(`agent connection invite --label Alice --json ${as('issuer')}`)).out,
  )
  const accepted = await paste(
    `agent connection accept '${invited.invitation.invitationUrl}' --label Acme --wait ${as('holder')}`,
  )
  expect((await paste(accepted.next)).out).toContain('ConnectionResponseReceived')

  const offer = await paste(
    `agent credential offer --connection Alice --issuing-did ${issuingDid} --claim name=Alice ${as('issuer')}`,
  )
  expect((await paste(offer.next)).out).toContain('Offer')
  await expect
    .poll(async () => (await paste(`agent credential list ${as('holder')}`)).out)
    .toContain('OfferReceived')
  const [held] = (await paste(`agent credential list -q ${as('holder')}`)).out.split('\n')
  // The only DID of the wallet is the subject.
  const shown = await paste(`agent credential show ${held} ${as('holder')}`)
  const taken = await paste(shown.next)
  expect(taken.out).toContain('Request')
  expect((await paste(taken.next)).out).toContain(held)
  await expect
    .poll(async () => (await paste(`agent credential list ${as('issuer')}`)).out)
    .toContain('RequestReceived')
  const [offered] = (await paste(`agent credential list -q ${as('issuer')}`)).out.split('\n')
  const issued = await paste((await paste(`agent credential show ${offered} ${as('issuer')}`)).next)
  expect((await paste(issued.next)).out).toContain('Credential')
  await expect
    .poll(async () => (await paste(`agent credential list ${as('holder')}`)).out)
    .toContain('CredentialReceived')

  await paste(`agent proof request --connection Alice --any-issuer ${as('issuer')}`)
  await expect
    .poll(async () => (await paste(`agent proof list ${as('holder')}`)).out)
    .toContain('RequestReceived')
  const [asked] = (await paste(`agent proof list -q ${as('holder')}`)).out.split('\n')
  const presented = await paste((await paste(`agent proof show ${asked} ${as('holder')}`)).next)
  expect((await paste(presented.next)).out).toContain('Presentation')
  await expect
    .poll(async () => (await paste(`agent proof list ${as('issuer')}`)).out)
    .toContain('PresentationVerified')
  const [mine] = (await paste(`agent proof list -q ${as('issuer')}`)).out.split('\n')
  expect((await paste((await paste(`agent proof show ${mine} ${as('issuer')}`)).next)).out).toContain(
    'PresentationAccepted',
  )
})

test('an offer is accepted with the only DID that can sign; without one or with two, the error names the remedy', async () => {
  await using pair = await startCommandedPair()
  const { issuer, holder, as } = pair
  const issuingDid = (await newDid(issuer, 'assertionMethod')).longFormDid
  const offer = words`credential offer --invitation --issuing-did ${issuingDid} --claim name=Alice --json`
  const receive = async () => {
    const made = JSON.parse((await as(issuer).run(offer)).out)
    return (await as(holder).json`credential accept-invitation ${made.invitation.invitationUrl}`).recordId
  }
  const first = await receive()
  const none = await as(holder).run`credential accept ${first}`
  expect(none).toMatchObject(
    fails(2, /no DID that can be the subject of the credential[^]*Try: agent did create/),
  )
  await newDid(holder, 'authentication')
  await newDid(holder, 'assertionMethod')
  expect((await as(holder).run`credential accept ${first}`).code).toBe(0)
  const second = await receive()
  const other = await newDid(holder, 'authentication')
  expect(await as(holder).run`credential accept ${second}`).toMatchObject(
    fails(2, /The wallet has 2 DIDs: name one with --subject[^]*Try: agent did list/),
  )
  expect((await as(holder).run`credential accept ${second} --subject ${other.longFormDid}`).code).toBe(0)
})

test('a tenant with a key in a file gets a profile by the suggested command', async () => {
  const file = join(user.folder, 'bob.key')
  const { err } = await user.run`tenant create ${['Bob & Co']} --key-file ${file}`
  const next = /Next:\n {2}agent (.+)/.exec(err)?.[1] ?? ''
  expect(next).toBe(`profile add Bob-Co --url ${agent.url} --api-key-file ${file}`)
  expect(await user.run(next.split(' '))).toMatchObject({ code: 0 })
  expect(await user.run`connection list --profile Bob-Co`).toMatchObject({ code: 0 })
})
