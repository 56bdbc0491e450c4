/**
 * Secrets occur only in the places listed here, and in no other file, log, answer, error, message or command
 * line. A listed place without a finding fails as well.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { runDaemons } from './_daemons.ts'
import { runCommands } from './_person.ts'
import type { Places } from './_places.ts'
import { createSweep, type Canary } from './_sweep.ts'

type Run = { places: Places; secrets: Canary[] }

/** The secrets found in each place. */
function findAll({ places, secrets }: Run): Record<string, string[]> {
  const sweep = createSweep(secrets)
  const found = Object.entries(places).map(([place, content]) => [place, sweep(content)] as const)
  return Object.fromEntries(found.filter(([, names]) => names.length > 0))
}

const namesOf = ({ secrets }: Run) => [...new Set(secrets.map(({ name }) => name))]

describe('two daemons that issue, prove, get hostile requests and crash', () => {
  let run: Awaited<ReturnType<typeof runDaemons>>
  beforeAll(async () => {
    run = await runDaemons()
  })

  test('secrets are only in the expected places', () => {
    expect(findAll(run)).toEqual({
      // Only what the operator wrote there.
      'acme’s process: environment': [
        'ADMIN_TOKEN',
        'ADMIN_TOKEN_PREVIOUS',
        'DEFAULT_WALLET_AUTH_API_KEY',
        'DEFAULT_WALLET_SEED',
        'DEFAULT_WALLET_WEBHOOK_API_KEY',
        'GLOBAL_WEBHOOK_API_KEY',
      ],
      'alice’s process: environment': [
        'ADMIN_TOKEN',
        'ADMIN_TOKEN_PREVIOUS',
        'AGENT_MASTER_KEY',
        'GLOBAL_WEBHOOK_API_KEY',
      ],
      'folders/acme/master.key': ['new master key'],
      'folders/acme/master.key.<date>': ['first master key'],
      'folders/acme-config/profiles/local.json': ['ADMIN_TOKEN', 'DEFAULT_WALLET_AUTH_API_KEY'],
      'folders/alice-config/profiles/local.json': ['ADMIN_TOKEN', 'api key of alice’s profile'],
      'headers of events': ['GLOBAL_WEBHOOK_API_KEY'],
      // For the requesters.
      'acme’s answers': ['custom header', 'second api key', 'second webhook secret', 'webhook secret'],
    })
  })

  test('one-time secrets are not returned again', () => {
    const answers = Buffer.from(run.places['acme’s answers']!).toString('latin1')
    for (const [name, value] of Object.entries(run.returnedOnce))
      expect(answers.split(value), name).toHaveLength(2)
  })

  test('every kind of secret was searched for in every kind of place', () => {
    const kinds = [
      'agent key',
      'wallet key',
      'seed',
      'mediator key',
      'key of a did:peer',
      'master key of a did:prism',
      'derived key of a DID',
    ]
    const names = namesOf(run)
    for (const kind of [...kinds, 'random key of a DID']) expect(names).toContain(`acme: ${kind}`)
    for (const kind of kinds) expect(names).toContain(`alice: ${kind}`)
    expect(names).toContain('passphrase')
    const sizes = Object.entries(run.places).map(([place, content]) => [place, content.length] as const)
    for (const place of [
      /acme.wallets.*-wal$/,
      /alice.wallets.*-wal$/,
      /vdr\.db$/,
      /mediator\.db/,
      /agent\.db-wal$/,
      /audit\.db/,
      /the\.wallet$/,
      /backup.wallets.*\.db$/,
      /crash\.json$/,
      /log$/,
      /by others$/,
      /command line$/,
    ])
      expect(
        sizes.find(([name, size]) => place.test(name) && size > 20),
        String(place),
      ).toBeDefined()
    expect(String(run.places['alice’s log'])).toContain('a crash of the test')
  })

  test('the search finds each of them', () => {
    const sweep = createSweep(run.secrets)
    for (const { name, value } of run.secrets) {
      const planted = Buffer.from(value as Uint8Array).toString('base64url')
      expect(sweep(JSON.stringify({ msg: 'a request failed', secret: planted }))).toContain(name)
    }
  })
})

describe('a user of the command line', () => {
  let run: Run
  beforeAll(async () => {
    run = await runCommands()
  })

  test('secrets are only in the expected places', () => {
    expect(findAll(run)).toEqual({
      // Displayed once.
      'agent tenant create acme': ['api key of the tenant'],
      'agent webhook add http://127.0.0.1:9/': ['custom header', 'webhook secret'],
      'data, running/master.key': ['new master key'],
      'data, running/master.key.<date>': ['first master key'],
      'data/master.key': ['new master key'],
      'data/master.key.<date>': ['first master key'],
      'config/profiles/local.json': ['admin token of the profile', 'api key of the profile'],
    })
  })

  test('every command succeeded, and the log exists', () => {
    expect(run.places['agent wallet create wrong']).toContain('seed')
    expect(run.places['agent doctor']).toContain('master')
    expect(run.places['export/the.wallet']!.length).toBeGreaterThan(10_000)
    expect(run.places['data/daemon.log']!.length).toBeGreaterThan(500)
    expect(namesOf(run)).toContain('the person: seed')
  })
})
