import { execFileSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { cliLine, curlLine, quote } from '../../cli/demo/calls.ts'
import { Receiver } from '../../cli/demo/changes.ts'
import { createNarrator, type Look } from '../../cli/demo/narrator.ts'
import { createPanes, hasPanes } from '../../cli/demo/panes.ts'
import { widthOf } from '../../cli/format/text.ts'
import type { Client } from '../../daemon/client/client.ts'

const caller = { base: 'ACME', header: 'apikey', key: 'ACME_KEY' } as const
const none = new Map<string, string>()

describe('a call as a curl line', () => {
  test.each([
    ['GET /connections', {}, 'curl $ACME/connections -H "apikey: $ACME_KEY"'],
    [
      'POST /connections',
      { body: { label: 'Bob' } },
      `curl $ACME/connections -H "apikey: $ACME_KEY" -H "$JSON" -d '{"label":"Bob"}'`,
    ],
    ['POST /x/{id}/issue', { path: { id: '1' } }, 'curl -X POST $ACME/x/1/issue -H "apikey: $ACME_KEY"'],
    [
      'PATCH /x/{id}',
      { path: { id: '1' }, body: {} },
      `curl -X PATCH $ACME/x/1 -H "apikey: $ACME_KEY" -H "$JSON" -d '{}'`,
    ],
  ])('of %s names the method only if curl does not infer it', (key, input, line) => {
    expect(curlLine(key, input, caller, none)).toBe(line)
  })

  test('replaces long values by variables, the longest first', () => {
    const names = new Map([
      ['http://a', 'ACME'],
      ['http://a/schemas/1', 'SCHEMA'],
      ['did:x', 'DID'],
    ])
    const line = curlLine(
      'POST /dids/{did}/offers',
      { path: { did: 'did:x' }, body: { schemaId: 'http://a/schemas/1', did: 'did:x' } },
      caller,
      names,
    )
    expect(line).toBe(
      `curl $ACME/dids/$DID/offers -H "apikey: $ACME_KEY" -H "$JSON" -d '{"schemaId":"'$SCHEMA'","did":"'$DID'"}'`,
    )
  })

  test('writes the query, and quotes variables with spaces', () => {
    expect(curlLine('GET /x', { query: { wait: 20 } }, caller, none)).toBe(
      'curl "$ACME/x?wait=20" -H "apikey: $ACME_KEY"',
    )
    const line = curlLine(
      'POST /x',
      { body: { from: { name: 'a b' } } },
      caller,
      new Map([['{"name":"a b"}', 'FROM']]),
    )
    expect(line).toContain(`-d '{"from":'"$FROM"'}'`)
  })

  test('is read correctly by a shell', () => {
    const body = { name: 'it\'s $HOME `id` \\ "x"', did: 'did:x', key: '$&' }
    const line = curlLine('POST /x', { body }, caller, new Map([['did:x', 'DID']]))
    const printed = execFileSync(
      'sh',
      ['-c', `curl() { for word; do printf '%s\\n' "$word"; done; }\n${line}`],
      {
        env: {
          ACME: 'http://127.0.0.1:1',
          ACME_KEY: 'secret',
          JSON: 'content-type: application/json',
          DID: 'did:x',
        },
        encoding: 'utf8',
      },
    ).split('\n')
    expect(printed.slice(0, 6)).toEqual([
      'http://127.0.0.1:1/x',
      '-H',
      'apikey: secret',
      '-H',
      'content-type: application/json',
      '-d',
    ])
    expect(JSON.parse(printed[6]!)).toEqual(body)
  })

  test('quotes quotes', () => {
    expect(quote("a'b")).toBe(String.raw`'a'\''b'`)
  })
})

describe('a call as a command', () => {
  const names = new Map([
    ['did:prism:x', 'DID'],
    ['{"a":"b c"}', 'REQUEST'],
  ])

  test.each([
    [
      'POST /connections',
      { body: { label: 'Bob', goal: 'a b' } },
      `agent connection invite --label Bob --goal 'a b' --profile acme`,
    ],
    [
      'POST /did-registrar/dids/{didRef}/publications',
      { path: { didRef: 'did:prism:x' } },
      'agent did publish $DID --wait --profile acme',
    ],
    [
      'POST /issue-credentials/credential-offers',
      { body: { connectionId: 'c', issuingDID: 'did:prism:x', claims: { name: 'Al', age: 42 } } },
      'agent credential offer --connection c --issuing-did $DID --claim name=Al --claim age:=42 --profile acme',
    ],
    [
      'POST /onboard/answers',
      { body: { didRequest: { a: 'b c' } } },
      'agent onboard submit "$REQUEST" --new --profile acme',
    ],
  ])('of %s', (key, input, line) => expect(cliLine(key, input, 'acme', names)).toBe(line))

  test('is undefined for a part of a command', () => {
    expect(cliLine('POST /iam/entities', { body: {} }, 'acme', names)).toBeUndefined()
  })
})

describe('the receiver of events', () => {
  const offer = { who: 'alice', what: 'credential', subject: 't1', state: 'OfferReceived' } as const

  async function withReceiver(
    use: (receiver: Receiver, send: (who: string, event: unknown) => Promise<number>) => Promise<void>,
    patienceMs?: number,
  ) {
    const receiver = await Receiver.open(patienceMs)
    const url = receiver.urlOf('acme').replace(/acme$/, '')
    const send = async (who: string, event: unknown) =>
      (await fetch(url + who, { method: 'POST', body: JSON.stringify(event) })).status
    try {
      await use(receiver, send)
    } finally {
      receiver.close()
    }
  }

  const event = (thid: string, protocolState: string) => ({
    type: 'IssueCredentialRecordUpdated',
    id: 'e',
    ts: 'now',
    data: { recordId: 'r1', thid, protocolState },
    walletId: 'w',
  })

  test('resolves for the matching change only', () =>
    withReceiver(async (receiver, send) => {
      const wanted = receiver.changes.until(offer)
      await send('acme', event('t1', 'OfferReceived'))
      await send('alice', event('t2', 'OfferReceived'))
      await send('alice', event('t1', 'RequestPending'))
      await send('alice', event('t1', 'OfferReceived'))
      expect(await wanted).toEqual({ ...offer, id: 'r1' })
      expect(receiver.changes.count).toBe(4)
    }))

  test('resolves for an earlier change', () =>
    withReceiver(async (receiver, send) => {
      await send('alice', event('t1', 'OfferReceived'))
      expect(await receiver.changes.until(offer)).toMatchObject({ id: 'r1' })
    }))

  test('reports the expected and the last change on timeout', () =>
    withReceiver(async (receiver, send) => {
      await send('acme', event('t1', 'OfferSent'))
      await expect(receiver.changes.until(offer)).rejects.toThrow(
        /alice’s credential to be in OfferReceived; acme was last in OfferSent, alice was last in no state/,
      )
    }, 20))

  test('rejects when the daemon has ended', () =>
    withReceiver(async (receiver) => {
      const wanted = receiver.changes.until(offer)
      receiver.changes.fail(new Error('acme’s daemon ended'))
      await expect(wanted).rejects.toThrow('acme’s daemon ended')
    }))

  test('accepts only events, and only at the paths of the parties', () =>
    withReceiver(async (receiver, send) => {
      expect(await send('alice', event('t1', 'OfferReceived'))).toBe(200)
      expect(await send('mallory', event('t1', 'OfferReceived'))).toBe(404)
      expect(await send('../alice', event('t1', 'OfferReceived'))).toBe(404)
      expect(await send('alice', { type: 'Other', data: {} })).toBe(400)
      expect(receiver.changes.count).toBe(1)
    }))

  test('recognises all four topics by record id and state', () =>
    withReceiver(async (receiver, send) => {
      await send('acme', {
        type: 'ConnectionUpdated',
        data: { connectionId: 'c1', thid: 't1', state: 'InvitationGenerated' },
      })
      await send('acme', {
        type: 'PresentationUpdated',
        data: { presentationId: 'p1', connectionId: 'c1', thid: 't2', status: 'RequestSent' },
      })
      await send('acme', { type: 'DIDStatusUpdated', data: { did: 'did:x', status: 'PUBLISHED' } })
      const seen = [
        await receiver.changes.until({
          who: 'acme',
          what: 'connection',
          subject: 't1',
          state: 'InvitationGenerated',
        }),
        await receiver.changes.until({ who: 'acme', what: 'proof', subject: 't2', state: 'RequestSent' }),
        await receiver.changes.until({ who: 'acme', what: 'did', subject: 'did:x', state: 'PUBLISHED' }),
      ]
      expect(seen.map(({ id }) => id)).toEqual(['c1', 'p1', 'did:x'])
    }))
})

describe('the narrator', () => {
  function narrate(look: Partial<Look> = {}) {
    const lines: string[] = []
    return {
      lines,
      narrator: createNarrator((text) => lines.push(...text.split('\n')), {
        isTerminal: false,
        isColoured: false,
        isKept: false,
        hasCurl: true,
        screen: {},
        ...look,
      }),
    }
  }

  test('shows keys in part, unless the daemons keep running', () => {
    const [shown, kept] = [narrate(), narrate({ isKept: true })]
    shown.narrator.nameSecret('acme', 'ACME_KEY', 'abcdefghijklmnop')
    kept.narrator.nameSecret('acme', 'ACME_KEY', 'abcdefghijklmnop')
    expect(shown.lines.join()).not.toContain('ghijkl')
    expect(kept.lines.join()).toContain('ACME_KEY=abcdefghijklmnop')
  })

  test('prints commands alone without curl', async () => {
    const { lines, narrator } = narrate({ hasCurl: false })
    const client = (() => Promise.resolve({})) as unknown as Client
    const watched = narrator.watch(client, { base: 'ACME', header: 'apikey', key: 'ACME_KEY' })
    await watched('POST /connections', { body: { label: 'alice' } })
    expect(lines).toEqual(['   $ agent connection invite --label alice --profile acme'])
  })

  test('prints calls with the variables so far, and makes them', async () => {
    const { lines, narrator } = narrate()
    narrator.nameSecret('acme', 'ACME_KEY', 'abcdefghijklmnop')
    const client = ((key: string) => Promise.resolve(key)) as unknown as Client
    const watched = narrator.watch(client, { base: 'ACME', header: 'x-admin-api-key', key: 'ACME_ADMIN' })
    expect(
      await watched('POST /iam/apikey-authentication', {
        body: { entityId: 'e1', apiKey: 'abcdefghijklmnop' },
      }),
    ).toBe('POST /iam/apikey-authentication')
    expect(lines.at(-1)).toContain(`"apiKey":"'$ACME_KEY'"`)
  })

  test('prints every state change with its sender', () => {
    const { lines, narrator } = narrate()
    narrator.change({ who: 'alice', what: 'credential', subject: 't1', id: 'r1', state: 'OfferReceived' })
    expect(lines[0]).toMatch(/^ +alice +credential +OfferReceived +waiting for your answer$/)
  })

  test('prints the URL of an invitation without a terminal too', () => {
    const { lines, narrator } = narrate()
    narrator.invitation(url)
    expect(lines).toEqual([`   INVITATION=${url}`])
  })
})

const url = 'http://127.0.0.1:43141/i?_oobid=Ab3dEf6hIj9kLm2n'

describe('two panes', () => {
  const client = (() => Promise.resolve({})) as unknown as Client

  test.each([100, 101, 160])('of %i columns fit commands, the invitation and messages', async (columns) => {
    const lines: string[] = []
    const narrator = createNarrator((text) => lines.push(...text.split('\n')), {
      isTerminal: true,
      isColoured: false,
      isKept: false,
      hasCurl: false,
      screen: { columns, rows: 30 },
      panes: createPanes(columns),
    })
    const alice = narrator.watch(client, { base: 'ALICE', header: 'apikey', key: 'ALICE_KEY' })
    const change = { what: 'connection', subject: 't1', id: 'r1' } as const
    narrator.step('Connect')
    narrator.name('acme', 'ACME_DID', `did:prism:${'0'.repeat(64)}`)
    narrator.nameSecret('acme', 'ACME_KEY', 'abcdefghijklmnop')
    narrator.invitation(url)
    await alice('POST /connection-invitations', { body: { invitation: url } })
    narrator.change({ ...change, who: 'alice', state: 'InvitationReceived' })
    narrator.change({ ...change, who: 'acme', state: 'ConnectionRequestReceived' })
    narrator.change({ ...change, who: 'acme', state: 'ConnectionResponseSent' })
    // oxlint-disable-next-line no-control-regex
    const plain = lines.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, ''))
    const border = Math.floor((columns - 1) / 2)
    for (const line of plain) expect(widthOf(line), line).toBeLessThanOrEqual(columns)
    const [, heading, head, did, ...rest] = plain
    expect(heading).toBe('1. Connect')
    expect(head).toMatch(/^── acme ─+┬── alice ─+$/)
    expect(did).toMatch(/^ ACME_DID=did:prism:0+…0+ +│$/)
    const code = rest.filter((line) => /^ [█▀▄]/.test(line))
    expect(code).toHaveLength(17)
    expect(code.every((line) => line[border] === '│')).toBe(true)
    expect(rest[18]).toBe(` ${url.padEnd(border - 1)}│`)
    expect(rest.slice(19).map((line) => line.replaceAll(/─+/g, '─').trim())).toEqual([
      '│ $ agent connection accept "$INVITATION"',
      'acme ─ invitation ─► alice',
      '│ InvitationReceived: invitation read',
      'acme ◄─ connection request ─ alice',
      expect.stringMatching(/^ConnectionRequestReceived.* │$/),
      expect.stringMatching(/^ConnectionResponseSent: connected +│$/),
    ])
    expect(plain.join()).not.toContain('ACME_KEY')
  })

  test('need a wide terminal with block characters, and no CI', () => {
    const terminal = { isTTY: true, columns: 100 }
    const env = { LANG: 'C.UTF-8', TERM: 'xterm' }
    expect(hasPanes(terminal, env)).toBe(true)
    expect(hasPanes({ isTTY: true, columns: 99 }, env)).toBe(false)
    expect(hasPanes({ columns: 100 }, env)).toBe(false)
    for (const other of [{ TERM: 'dumb' }, { LANG: 'C' }, { CI: 'true' }])
      expect(hasPanes(terminal, { ...env, ...other }), JSON.stringify(other)).toBe(false)
  })
})
