import { stripVTControlCharacters } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  claimPairs,
  disclosableOf,
  standingOf,
  validityOf,
  type CredentialContent,
} from '../../cli/format/credential.ts'
import { colour, inStyle } from '../../cli/format/colour.ts'
import { canonicalDid } from '../../src/definitions/did-names.ts'
import {
  connectionName,
  fold,
  pad,
  safe,
  safeJson,
  safeLine,
  shorten,
  shortenDids,
  widthOf,
  wrap,
} from '../../cli/format/text.ts'
import { explain, meanings, nextCommand, shownState, styleOf } from '../../cli/format/states.ts'
import { labelsOf, withLabel, withLabels } from '../../cli/format/parties.ts'
import { fields, table, type Column } from '../../cli/format/table.ts'
import { ago, ahead, duration, whenAgo } from '../../cli/format/time.ts'
import { formatLogLine } from '../../cli/format/log.ts'
import { connectionStates } from '../../src/definitions/connection.ts'
import { credentialStates } from '../../src/definitions/issue-credential.ts'
import { presentationStates } from '../../src/definitions/present-proof.ts'

type Row = { id: string; label?: string; did: string }

const columns: Column<Row>[] = [
  { head: 'id', of: ({ id }) => id },
  { head: 'label', of: ({ label }) => label, cut: 'end' },
  { head: 'did', of: ({ did }) => did, cut: 'middle' },
]
const rows: Row[] = [
  { id: '0001', label: 'Alice and her friends', did: 'did:prism:0123456789abcdef0123456789abcdef' },
  { id: '0002', did: 'did:prism:ffff' },
]

describe('the name of a connection', () => {
  const connectionId = '01a20725-1111-7111-8111-0123456789ab'
  const peerAt = (service: object) =>
    `did:peer:2.Ez6LSkey.Vz6Mkkey.S${Buffer.from(JSON.stringify(service)).toString('base64url')}`

  test.each([
    ['its label', { label: 'Acme', goal: 'Hire' }, 'Acme'],
    ['the goal of its invitation', { goal: 'Hire' }, 'Hire'],
    [
      'the peer’s host',
      { theirDid: peerAt({ t: 'dm', s: { uri: 'https://acme.example/didcomm/x' } }) },
      'acme.example 456789ab',
    ],
    [
      'the host of an older form',
      { theirDid: peerAt([{ t: 'dm', s: 'http://10.0.0.1:8090' }]) },
      '10.0.0.1:8090 456789ab',
    ],
    [
      'its id, of a peer with a mediator',
      { theirDid: peerAt({ t: 'dm', s: { uri: 'did:peer:2.x' } }) },
      'unnamed 456789ab',
    ],
    ['its id', {}, 'unnamed 456789ab'],
  ])('is %s', (_, given, name) => {
    expect(connectionName({ connectionId, ...given })).toBe(name)
  })
})

describe('long DIDs', () => {
  const jwk = `did:jwk:eyJhb${'x'.repeat(200)}876ZyIn0`
  const prism = `did:prism:${'ab'.repeat(32)}`

  test.each([
    [jwk, 'did:jwk:eyJhb…876ZyIn0'],
    [`Signed by ${jwk}, made now.`, 'Signed by did:jwk:eyJhb…876ZyIn0, made now.'],
    [`${jwk}#0 ${jwk}.`, 'did:jwk:eyJhb…876ZyIn0#0 did:jwk:eyJhb…876ZyIn0.'],
    [`decentralized_identifier:${jwk}`, 'decentralized_identifier:did:jwk:eyJhb…876ZyIn0'],
    [`${prism}:${'Q'.repeat(150)}`, prism],
    [`Acme (${prism})`, `Acme (${prism})`],
    ['did:web:agent.example:tenants:acme', 'did:web:agent.example:tenants:acme'],
    [`openid4vp://?client_id=${jwk}`, `openid4vp://?client_id=${jwk}`],
  ])('of a text for people are short: %s', (text, short) => {
    expect(shortenDids(text)).toBe(short)
  })

  test('are short in a terminal, but for the id of what is shown', () => {
    const other = jwk.replace('x', 'y')
    const pairs = [
      ['did', other],
      ['issuer', inStyle('good', jwk)],
    ] as const
    expect(fields(pairs)).toBe(`did     ${other}\nissuer  ${jwk}`)
    expect(fields(pairs, 80, undefined, other)).toBe(`did     ${other}\nissuer  did:jwk:eyJhb…876ZyIn0`)
    const long = `${prism}:${'Q'.repeat(150)}`
    expect(fields([['long form', long]], 80, undefined, prism)).toBe(`long form  ${long}`)
    const listed: Column<string>[] = [{ head: 'did', of: (did) => inStyle('good', did), cut: 'middle' }]
    expect(table([jwk], listed, 80)).toBe('DID\ndid:jwk:eyJhb…876ZyIn0')
    expect(table([jwk], listed)).toBe(`DID\n${jwk}`)
  })

  test('of the wallet have their labels before them', () => {
    const labels = labelsOf([{ did: jwk, label: 'Acme' }, { did: prism }])
    const long = `${prism}:${'Q'.repeat(150)}`
    expect(withLabels([['issuer', `${jwk} ${long}`]], labels)).toEqual([['issuer', `Acme (${jwk}) ${long}`]])
    const fine = [['claim did', { did: jwk }] as const, ['expires', undefined] as const]
    expect(withLabels(fine, labels)).toEqual(fine)
    expect(withLabel(long, labelsOf([{ did: prism, label: 'Acme' }]))).toBe(`Acme (${long})`)
  })
})

describe('a table', () => {
  test('has full columns without a terminal', () => {
    expect(table(rows, columns)).toBe(
      [
        'ID    LABEL                  DID',
        '0001  Alice and her friends  did:prism:0123456789abcdef0123456789abcdef',
        '0002                         did:prism:ffff',
      ].join('\n'),
    )
  })

  test.each([30, 40, 60, 70, 80])('fits %i columns and keeps ids whole', (width) => {
    const lines = table(rows, columns, width).split('\n')
    expect(lines.every((line) => widthOf(line) <= width)).toBe(true)
    expect(lines[1]).toContain('0001')
  })

  test('shows both ends of a value cut in the middle', () => {
    const [, first] = table(rows, columns, 50).split('\n')
    expect(first).toMatch(/did:.*….*cdef$/)
  })

  test('drops optional columns, the last one first', () => {
    const more: Column<Row>[] = [
      { head: 'id', of: ({ id }) => id },
      { head: 'role', of: () => 'Inviter', optional: true },
      { head: 'state', of: () => 'ConnectionResponseReceived' },
      { head: 'created', of: () => '5 min ago', optional: true },
    ]
    const heads = (width: number) => table(rows, more, width).split('\n')[0]!.split(/ +/)
    expect(heads(52)).toEqual(['ID', 'ROLE', 'STATE', 'CREATED'])
    expect(heads(51)).toEqual(['ID', 'ROLE', 'STATE'])
    expect(heads(40)).toEqual(['ID', 'STATE'])
  })

  test('drops optional columns before it cuts texts to a few letters', () => {
    const more: Column<Row>[] = [
      { head: 'state', of: () => 'ConnectionResponseReceived' },
      { head: 'claims', of: () => 'name=Alice birthdate=1990-01-01', cut: 'end' },
      { head: 'created', of: () => '5 min ago', optional: true },
    ]
    const head = (width: number) => table(rows, more, width).split('\n')[0]!.trimEnd()
    expect(head(51)).toMatch(/CREATED$/)
    expect(head(50)).toMatch(/CLAIMS$/)
  })

  describe('of ids', () => {
    const ids = ['01a20000-0000-7000-8000-0000009a6a43', '01a20000-0000-7000-8000-0000019a6a43']
    const listed: Column<string>[] = [
      { head: 'id', of: (id) => id, isId: true },
      { head: 'about', of: (id) => `wallet=${id} x`, isId: true },
    ]

    test('has their ends in a terminal, as long as it takes to distinguish them', () => {
      expect(table(ids.slice(0, 1), listed, 80)).toBe('ID       ABOUT\n…9a6a43  wallet=…9a6a43 x')
      expect(table(ids, listed, 80).split('\n').slice(1)).toEqual([
        '…09a6a43  wallet=…09a6a43 x',
        '…19a6a43  wallet=…19a6a43 x',
      ])
    })

    test('has whole ids in a pipe', () => {
      expect(table(ids, listed)).toContain(`${ids[0]}  wallet=${ids[0]} x`)
    })
  })

  test('in a pipe is not padded to a very long text', () => {
    const long = [{ id: '1', label: 'x'.repeat(100_000), did: 'did:x:1' }, ...rows]
    const [head, first, ...others] = table(long, columns).split('\n')
    expect(first).toContain(`${long[0]!.label}  did:x:1`)
    expect(Math.max(head!.length, ...others.map((line) => line.length))).toBeLessThan(100)
  })

  test('becomes a list of fields when too narrow', () => {
    const text = table(rows, columns, 16)
    expect(text.split('\n\n')).toHaveLength(2)
    expect(text).toContain('id     0001')
  })

  test('keeps each row on one line with any label of a peer', () => {
    const text = table([{ id: '1', label: 'a\nb\r\n\u001b[31mred\u001b[0m', did: 'did:x:y' }], columns)
    expect(text.split('\n')).toHaveLength(2)
    expect(text).toContain('a b red')
  })

  test('lines up wide characters', () => {
    const [, first, second] = table(
      [
        { id: '1', label: '日本', did: 'x' },
        { id: '2', label: 'abcd', did: 'x' },
      ],
      columns,
    ).split('\n')
    expect(widthOf(first!)).toBe(widthOf(second!))
  })
})

describe('colours', () => {
  const paint = colour({ isTTY: true }, {})
  const states: Column<string>[] = [
    { head: 'state', of: (state) => inStyle(styleOf('credential', state), state) },
    { head: 'id', of: () => '1' },
  ]

  test('only accompany words, and take no columns', () => {
    const [bare, painted] = [
      table(['OfferSent', 'CredentialSent'], states),
      table(['OfferSent', 'CredentialSent'], states, 80, paint),
    ]
    expect(stripVTControlCharacters(painted)).toBe(bare)
    expect(painted.split('\n')[1]).toBe('\u001b[36mOfferSent\u001b[39m       1')
  })

  test('end where a word is cut', () => {
    const cut: Column<string>[] = [{ head: 's', of: (text) => inStyle('bad', text), cut: 'end' }]
    expect(table(['a long text of letters'], cut, 12, paint).split('\n')[1]).toBe(
      '\u001b[31ma long text…\u001b[39m',
    )
  })

  test('cannot be set by a claim', () => {
    const claim = { text: 'x', style: 'good', Symbol: 'style' }
    expect(fields([['claim', claim]], 80, paint)).toBe(`claim  ${JSON.stringify(claim)}`)
  })

  test('apply to fields, and only when enabled', () => {
    const pairs = [['state', shownState('connection', 'ProblemReportSent')]] as const
    expect(fields(pairs, 80, paint)).toBe('state  \u001b[2mProblemReportSent (took too long)\u001b[22m')
    expect(fields(pairs)).toBe('state  ProblemReportSent (took too long)')
  })

  test.each([
    ['connection', 'ConnectionResponseSent', 'good'],
    ['credential', 'OfferReceived', 'waiting'],
    ['proof', 'PresentationVerificationFailed', 'bad'],
    ['proof', 'PresentationVerified', 'good'],
    ['credential', 'OfferSent', 'running'],
    ['credential', 'ProblemReportReceived', 'bad'],
    ['connection', 'ProblemReportSent', 'faint'],
    ['proof', 'InvitationExpired', 'faint'],
    ['proof', 'SomethingNew', 'running'],
  ] as const)('mean something: a %s that is %s is %s', (topic, state, style) => {
    expect(styleOf(topic, state)).toBe(style)
  })
})

test('prose wraps at spaces by display width', () => {
  expect(wrap('one two three', 7)).toEqual(['one two', 'three'])
  expect(wrap('日本 日本', 8)).toEqual(['日本', '日本'])
  expect(wrap('unbreakable x', 4)).toEqual(['unbreakable', 'x'])
  expect(wrap('one two three')).toEqual(['one two three'])
})

test('a message is broken for a terminal below its values; commands and QR codes stay whole', () => {
  expect(fold('one two three', 7)).toBe('one two\nthree')
  expect(fold('  trust      not trusted by anyone', 26)).toBe(
    '  trust      not trusted\n             by anyone',
  )
  expect(fold('  a long name of a value  text', 25)).toBe('  a long name of a value\n  text')
  for (const whole of [
    '  agent did create --publish --wait',
    '$ agent did list --json',
    '██ ▄▄▄▄▄ ██',
    'a b\nc',
  ])
    expect(fold(whole, 8)).toBe(whole)
  expect(fold('one two three')).toBe('one two three')
})

describe('fields', () => {
  test('are aligned, and omit missing values', () => {
    expect(
      fields([
        ['id', '1'],
        ['label', undefined],
        ['last failure', null],
        ['state', 'OfferSent'],
      ]),
    ).toBe('id     1\nstate  OfferSent')
  })

  test('show objects as JSON on one line', () => {
    expect(fields([['claim address', { city: 'Ulm' }]])).toBe('claim address  {"city":"Ulm"}')
  })
})

test('claims are printed one per line with paths that --claim accepts, without control characters', () => {
  const claims = {
    name: 'Alice',
    address: { city: 'Ulm', 'zip.code': 1, more: {} },
    list: [{ a: 1 }],
    none: null,
    'red\u001b[31m\n': true,
  }
  expect(claimPairs(claims)).toEqual([
    ['claim name', 'Alice'],
    ['claim address.city', 'Ulm'],
    ['claim address.zip\\.code', 1],
    ['claim address.more', {}],
    ['claim list', [{ a: 1 }]],
    ['claim none', null],
    ['claim red ', true],
  ])
})

describe('a credential', () => {
  const now = Date.parse('2026-11-20T12:00:00Z')
  const [before, after] = ['2026-11-20T10:00:00.000Z', '2026-11-23T12:00:00.000Z']
  const content = (change: Partial<CredentialContent>) => change as CredentialContent

  test.each([
    [{ validFrom: before, validUntil: after }, `valid until ${after}, in 3 d`],
    [{ validFrom: before }, 'never expires'],
    [{}, 'never expires'],
    [{ validUntil: before }, `expired 2 h ago, valid until ${before}`],
    [{ validUntil: '2026-11-20T12:00:00.000Z' }, 'expired now, valid until 2026-11-20T12:00:00.000Z'],
    [{ validFrom: after }, `not valid yet, from ${after}, in 3 d`],
    [{ validFrom: after, validUntil: before }, `expired 2 h ago, valid until ${before}`],
  ])('of %j: %s', (dates, words) => {
    expect(validityOf(dates, now)).toBe(words)
  })

  test('shows its revocation status, or why it is unknown', () => {
    const words = (standing: CredentialContent['standing']) => standingOf(content({ standing }))
    expect(words({ status: 'revoked' })).toBe('revoked')
    expect(words({ status: 'suspended' })).toBe('suspended')
    expect(words({ status: 'not-revoked', detail: 'it names no status list' })).toBe(
      'not revoked: it names no status list',
    )
    expect(words({ status: 'unknown', detail: 'its host is away' })).toBe('cannot be known: its host is away')
  })

  test('shows which claims are selectively disclosable', () => {
    expect(disclosableOf(content({}))).toBeUndefined()
    expect(disclosableOf(content({ disclosable: [] }))).toBe('none')
    expect(disclosableOf(content({ disclosable: [['name'], ['tags', '0'], ['zip.code']] }))).toBe(
      'name tags.0 zip\\.code',
    )
  })
})

describe('the width of a text', () => {
  test.each([
    ['', 0],
    ['abc', 3],
    ['Ålice', 5],
    ['e\u0301', 1],
    ['日本', 4],
    ['👩‍👩‍👧', 2],
    ['🇩🇪', 2],
    ['❤️', 2],
    ['✔', 1],
    ['ｱ', 1],
    ['Ａ', 2],
    ['한글', 4],
    ['a\u200bb', 2],
    ['é…—’', 4],
  ])('%j is %i', (text, width) => {
    expect(widthOf(text)).toBe(width)
  })

  test.each(['a long text of letters', '日本語のとても長い文', '👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧'])(
    'of %j can be made anything smaller',
    (text) => {
      for (let width = 1; width < widthOf(text); width++) {
        for (const where of ['end', 'middle'] as const)
          expect(widthOf(shorten(text, width, where))).toBeLessThanOrEqual(width)
      }
    },
  )

  test('is padded', () => {
    expect(pad('日', 4)).toBe('日  ')
    expect(pad('abc', 2)).toBe('abc')
  })
})

describe('untrusted text', () => {
  test('loses escape sequences, control characters and direction marks', () => {
    expect(safe('a\u001b[31mb\u001b]0;title\u0007c\u009b2Jd\u202ee\u0000f\tg\nh')).toBe('abcdef\tg\nh')
    expect(safeLine('a\tb\r\nc')).toBe('a b c')
  })

  test('is the same value in JSON without control characters', () => {
    const value = { label: 'a\u009b31m\u202e\u001b[0m' }
    expect(JSON.parse(safeJson(value))).toEqual(value)
    // oxlint-disable-next-line no-control-regex
    expect(safeJson(value)).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  })
})

describe('states', () => {
  test.each([
    ['connection', connectionStates],
    ['credential', credentialStates],
    ['proof', presentationStates],
  ] as const)('of the %s protocol are all explained, and no others', (topic, machine) => {
    const states = [...new Set(machine.rows.map((row) => row[3]))]
    expect(Object.keys(meanings[topic]).toSorted()).toEqual(states.toSorted())
  })

  test('are described in words', () => {
    expect(explain('credential', 'OfferReceived')).toBe('OfferReceived (waiting for your answer)')
    expect(explain('credential', 'SomethingNew')).toBe('SomethingNew')
  })

  test('suggest the next command', () => {
    expect(nextCommand('credential', 'RequestReceived', '1')).toBe('agent credential issue 1')
    expect(nextCommand('credential', 'RequestSent', '1')).toBeUndefined()
  })
})

describe('times', () => {
  const now = Date.parse('2026-11-20T12:00:00Z')

  test.each([
    ['2026-11-20T12:00:00Z', 'now'],
    ['2026-11-20T12:00:05Z', 'now'],
    ['2026-11-20T11:59:01Z', '59 s ago'],
    ['2026-11-20T11:59:00Z', '1 min ago'],
    ['2026-11-20T09:30:00Z', '2 h ago'],
    ['2026-11-10T12:00:00Z', '10 d ago'],
    ['2026-01-02T12:00:00Z', '2026-01-02'],
  ])('%s is %s', (time, words) => {
    expect(ago(time, now)).toBe(words)
  })

  test('have their age', () => {
    expect(whenAgo('2026-11-20T11:59:00Z', now)).toBe('2026-11-20T11:59:00Z, 1 min ago')
    expect(whenAgo('2026-01-02T12:00:00Z', now)).toBe('2026-01-02T12:00:00Z')
  })

  test.each([
    ['2026-11-20T12:00:00.900Z', 'now'],
    ['2026-11-20T12:00:59Z', 'in 59 s'],
    ['2026-11-20T14:59:00Z', 'in 3 h'],
    ['2026-12-20T11:59:58Z', 'in 30 d'],
    ['2027-11-20T12:00:00Z', 'in 365 d'],
  ])('%s is %s', (time, words) => {
    expect(ahead(time, now)).toBe(words)
  })

  test('have readable units', () => {
    expect([0.4, 9.96, 12.4, 999, 1_250].map(duration)).toEqual([
      '0.4 ms',
      '10.0 ms',
      '12 ms',
      '999 ms',
      '1.25 s',
    ])
  })
})

describe('a line of the log', () => {
  test('is formatted', () => {
    const line =
      '{"level":40,"time":1795205192542,"pid":1,"hostname":"vm","walletId":"w","err":{"message":"no"},"msg":"not sent"}'
    expect(formatLogLine(line)).toBe('20:06:32.542 warn  not sent walletId=w err={"message":"no"}')
  })

  test.each(['The port is taken.', '{"level":"high"}', '{', ''])('%j is unchanged', (line) => {
    expect(formatLogLine(line)).toBe(line)
  })
})

test('only a did:prism has a short form', () => {
  const short = `did:prism:${'0'.repeat(64)}`
  expect(canonicalDid(`${short}:abc`)).toBe(short)
  expect(canonicalDid('did:web:example.com:user')).toBe('did:web:example.com:user')
})
