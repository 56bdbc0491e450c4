import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { cliLine, curlLine, quote } from '../../cli/demo/calls.ts'
import { Receiver } from '../../cli/demo/changes.ts'
import { createNarrator, startRecording } from '../../cli/demo/narrator.ts'
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

describe('a recording', () => {
  test('is an asciicast with times, and never overwrites a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'demo-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'a.cast')
    const recording = startRecording(path, 'agent demo', { columns: 100, rows: 30 })
    recording.print('one\n  two')
    recording.print('\u001b[1mthree\u001b[22m')
    recording.close()
    const [header, ...moments] = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(header).toEqual({
      version: 2,
      width: 100,
      height: 30,
      timestamp: expect.any(Number),
      title: 'agent demo',
    })
    expect(moments).toEqual([
      [expect.any(Number), 'o', 'one\r\n  two\r\n'],
      [expect.any(Number), 'o', '\u001b[1mthree\u001b[22m\r\n'],
    ])
    expect(() => startRecording(path, 'agent demo', {})).toThrow('it exists already')
  })
})

describe('the receiver of events', () => {
  const offer = { who: 'alice', what: 'credential', subject: 't1', state: 'OfferReceived' } as const

  async function withReceiver(
    use: (receiver: Receiver, send: (who: string, event: unknown) => Promise<number>) => Promise<void>,
    patienceMs?: number,
  ) {
    const receiver = await Receiver.open(patienceMs)
    const origin = new URL(receiver.urlOf('acme')).origin
    const send = async (who: string, event: unknown) =>
      (await fetch(`${origin}/${who}`, { method: 'POST', body: JSON.stringify(event) })).status
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
  function narrate(isKept: boolean, hasCurl = true) {
    const lines: string[] = []
    return {
      lines,
      narrator: createNarrator((line) => lines.push(line), {
        isTerminal: false,
        isColoured: false,
        isKept,
        hasCurl,
        screen: {},
      }),
    }
  }

  test('shows keys in part, unless the daemons keep running', () => {
    const [shown, kept] = [narrate(false), narrate(true)]
    shown.narrator.nameSecret('ACME_KEY', 'abcdefghijklmnop')
    kept.narrator.nameSecret('ACME_KEY', 'abcdefghijklmnop')
    expect(shown.lines.join()).not.toContain('ghijkl')
    expect(kept.lines.join()).toContain('ACME_KEY=abcdefghijklmnop')
  })

  test('prints commands alone without curl', async () => {
    const { lines, narrator } = narrate(false, false)
    const client = (() => Promise.resolve({})) as unknown as Client
    const watched = narrator.watch(client, { base: 'ACME', header: 'apikey', key: 'ACME_KEY' })
    await watched('POST /connections', { body: { label: 'alice' } })
    expect(lines).toEqual(['   $ agent connection invite --label alice --profile acme'])
  })

  test('prints calls with the variables so far, and makes them', async () => {
    const { lines, narrator } = narrate(false)
    narrator.nameSecret('ACME_KEY', 'abcdefghijklmnop')
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
    const { lines, narrator } = narrate(false)
    narrator.change({ who: 'alice', what: 'credential', subject: 't1', id: 'r1', state: 'OfferReceived' })
    expect(lines[0]).toMatch(/^ +alice +credential +OfferReceived +waiting for your answer$/)
  })

  test('prints the invitation URL with and without a QR code', () => {
    const { lines, narrator } = narrate(false)
    narrator.invitation('https://my.domain.com/path?_oob=eyJ')
    expect(lines.join('\n')).toContain('https://my.domain.com/path?_oob=eyJ')
  })
})
