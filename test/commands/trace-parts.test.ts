/** A trace as text and as a diagram, for all answers of the daemon. */
import { expect, test } from 'vitest'
import { toMermaid } from '../../cli/trace/diagram.ts'
import { traceText } from '../../cli/trace/text.ts'
import { length, nameOf, pendingWords, shortDid, type Pending, type Trace } from '../../cli/trace/words.ts'
import { widthOf } from '../../cli/format/text.ts'

const start = Date.parse('2026-11-20T12:00:00.000Z')
const at = (ms: number) => new Date(start + ms).toISOString()
const [from, to] = ['did:peer:2.Ez6LSabcdefgh', 'did:peer:2.Ez6LSuvwxyz12']
const [one, two] = ['0190aaaa-0000-7000-8000-000000000001', '0190aaaa-0000-7000-8000-000000000002']
const issue = 'https://didcomm.org/issue-credential/3.0'
const state = {
  kind: 'state',
  topic: 'credential',
  recordId: 'r',
  eventType: 'IssueCredentialRecordUpdated',
} as const
const message = {
  kind: 'message',
  direction: 'sent',
  outcome: 'taken',
  type: `${issue}/offer-credential`,
  from,
  to,
} as const
const delivery = {
  kind: 'delivery',
  webhookId: two,
  eventId: one,
  eventType: state.eventType,
  cause: 'automatic',
} as const

const trace: Trace = {
  thid: 'the-thread',
  startedAt: at(0),
  records: [{ topic: 'credential', id: 'r', role: 'Issuer', state: 'OfferSent' }],
  steps: [
    { ...state, at: at(0), to: 'OfferPending', eventId: one },
    {
      ...delivery,
      at: at(5),
      attempt: 1,
      outcome: 'failed',
      durationMs: 3,
      status: 500,
      error: 'The receiver answered 500.',
    },
    { ...message, at: at(2_300), id: 'm', attempts: 3, durationMs: 12, failure: 'connection refused' },
    { ...state, at: at(2_320), from: 'OfferPending', to: 'OfferSent', eventId: two },
    { ...delivery, at: at(5_005), attempt: 2, outcome: 'delivered', durationMs: 4, status: 200 },
  ],
  pending: [{ what: 'answer', since: at(2_320), topic: 'credential', recordId: 'r', state: 'OfferSent' }],
  isCut: false,
}
const now = start + 2_320 + 185_000

test('one line for each step with its times and result, and the pending work', () => {
  expect(traceText(trace, { now })).toBe(
    `Thread the-thread
credential r, Issuer: OfferSent (waiting for the holder to accept the offer)
began 2026-11-20T12:00:00.000Z, 5 steps in 5.0 s

       AT      AFTER  STEP                     RESULT
     0 ms             credential OfferPending
     5 ms       5 ms  ⇢ webhook 00000002       OfferPending: failed (500) in 3 ms
    2.3 s      2.3 s  → sent offer-credential  taken in 12 ms, attempt 3, peer:abcdef → peer:uvwxyz, before: connection refused
    2.3 s      20 ms  credential OfferSent     was OfferPending
    5.0 s      2.7 s  ⇢ webhook 00000002       OfferPending: delivered (200) in 4 ms, attempt 2

Waiting
  the other side has not answered for 3 min 5 s: credential OfferSent (waiting for the holder to accept the offer)`,
  )
})

test('a refused request of a wallet has the error, and no DIDs', () => {
  const failure = 'invalid_proof: The proof is not accepted: its iat is in the future'
  const refused = { ...message, at: at(1), id: 'm', direction: 'received', outcome: 'refused' } as const
  const request = { ...refused, type: 'credential-request', from: 'wallet', failure }
  expect(traceText({ ...trace, steps: [request] }, { now })).toContain(
    `← received credential-request  refused, ${failure}\n`,
  )
})

test('the last failure of a record is below it, and is not cut', () => {
  const failure = 'The proof is not accepted: its aud is not https://agent.example/oid4vci/issuers/1'
  const failed = { ...trace, records: trace.records.map((record) => ({ ...record, failure })) }
  expect(traceText(failed, { now, width: 60 })).toContain(`\n  last failure: ${failure}\nbegan `)
})

test.each([40, 60, 80, 120])('no step exceeds %s columns', (width) => {
  const [steps] = traceText(trace, { now, width }).split('\n\nWaiting')
  for (const line of steps!.split('\n')) expect(widthOf(line), line).toBeLessThanOrEqual(width)
})

test('colours do not change the words', () => {
  const painted = traceText(trace, { now, paint: (style, text) => `<${style}>${text}</>` })
  expect(painted).toContain('<bad>⇢ webhook 00000002</>')
  expect(painted.replaceAll(/<[^>]*>/g, '')).toBe(traceText(trace, { now }))
})

test.each<[Pending, string]>([
  [
    {
      what: 'message',
      since: at(0),
      name: message.type,
      attempts: 3,
      reason: 'connection refused',
      nextAt: at(187_320 + 8_000),
    },
    'offer-credential is undelivered for 3 min 7 s; 3 attempts, the next in 8.0 s: connection refused',
  ],
  [
    { what: 'message', since: at(0), name: message.type, attempts: 0 },
    'offer-credential is undelivered for 3 min 7 s; the first attempt is running',
  ],
  [
    { what: 'work', since: at(0), name: 'credential', attempts: 0 },
    'the agent is processing credential for 3 min 7 s; the first attempt is running',
  ],
  [
    { what: 'decision', since: at(0), topic: 'credential', state: 'RequestReceived' },
    'waiting for you for 3 min 7 s: credential RequestReceived (the holder has accepted the offer)',
  ],
  [
    {
      what: 'end',
      since: at(0),
      topic: 'credential',
      state: 'OfferPending',
      nextAt: at(187_320 + 90_000_000),
    },
    'no more attempts for 3 min 7 s: credential OfferPending (sending the offer); it expires in 1 d 1 h',
  ],
  [
    {
      what: 'webhook',
      since: at(0),
      name: two,
      events: 2,
      attempts: 1,
      reason: 'The receiver answered 500.',
      nextAt: at(187_320 + 4_000),
    },
    'webhook 00000002 has 2 undelivered events for 3 min 7 s; 1 attempt, the next in 4.0 s: The receiver answered 500.',
  ],
])('pending work has its reason and due time', (pending, words) =>
  expect(pendingWords(pending, now)).toBe(words),
)

test('durations, message names and DIDs are short', () => {
  const times = [-5, 0, 999, 1_000, 59_940, 60_000, 3_600_000, 90_061_000].map(length)
  expect(times).toEqual(['0 ms', '0 ms', '999 ms', '1.0 s', '59.9 s', '1 min', '1 h', '1 d 1 h'])
  expect(nameOf(message.type)).toBe('offer-credential')
  expect(nameOf('https://atalaprism.io/mercury/connections/1.0/request')).toBe('connections request')
  expect(nameOf('nonsense')).toBe('nonsense')
  expect([from, `did:prism:${'0f'.repeat(32)}`, 'did:web:shop.example', 'nonsense'].map(shortDid)).toEqual([
    'peer:abcdef',
    'prism:0f0f0f',
    'web:shop.e',
    'nonsense',
  ])
})

/** Text that a peer or a webhook receiver can put into a trace. */
const hostile = [
  'x\u001b[2J\u001b]0;title\u0007',
  'a\nend\n  us->>them: forged',
  'a;b#35;%%{init: {"theme":"dark"}}%%',
  '</text><script>alert(1)</script>',
  'style x:a#b; classDef y:#f00;',
  '\u202egnp.exe',
  '"`*_[]{}|\\$&\u0000',
]
const attacked: Trace = {
  ...trace,
  thid: hostile.join(' '),
  steps: hostile.flatMap((text, index) => [
    {
      ...message,
      at: at(index),
      id: text,
      type: `https://x/${text}/1.0/${text}`,
      from: text,
      to: `did:x:${text}`,
      attempts: 2,
      failure: text,
    },
    {
      ...message,
      at: at(index),
      id: text,
      type: text,
      direction: 'received' as const,
      outcome: 'refused' as const,
      failure: text,
    },
    {
      ...delivery,
      at: at(index),
      attempt: 1,
      outcome: 'dead' as const,
      durationMs: 1,
      error: text,
      webhookId: text,
      eventType: text,
    },
  ]),
  pending: hostile.map((text) => ({
    what: 'message' as const,
    since: at(0),
    name: text,
    attempts: 1,
    reason: text,
  })),
}

test('texts of peers cannot control the terminal or add lines', () => {
  const text = traceText(attacked, { now })
  // oxlint-disable-next-line no-control-regex
  expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  expect(text.split('\n')).toHaveLength(3 + 2 + attacked.steps.length + 2 + hostile.length)
})

/** The strict forms of diagram lines: characters special to Mermaid are escaped as character codes. */
const text = String.raw`(?:[\p{L}\p{N} .,()/+→←⇢…'’-]|:(?= )|#\d+;)+`
const who = String.raw`(?:us|them|hook\d+)`
const forms = [
  /^sequenceDiagram$/,
  new RegExp(`^  participant ${who}(?: as ${text})?$`, 'u'),
  new RegExp(`^  ${who}(?:->>|-x|-->>|--x)${who}: ${text}$`, 'u'),
  new RegExp(`^  Note over ${who}(?:,${who})?: ${text}$`, 'u'),
]

test.each([
  ['a trace', trace],
  ['a trace with what a peer may write', attacked],
  ['an empty trace', { ...trace, steps: [], pending: [] }],
])('the diagram of %s has only known lines and declares its participants first', (_name, given) => {
  const lines = toMermaid(given, now).split('\n')
  for (const line of lines)
    expect(
      forms.some((form) => form.test(line)),
      line,
    ).toBe(true)
  expect(lines).toHaveLength(
    lines.filter((line) => line.startsWith('  participant')).length +
      1 +
      given.steps.length +
      given.pending.length,
  )
  const declared = lines.flatMap((line) => /^ {2}participant (\w+)/.exec(line)?.[1] ?? [])
  const used = lines.flatMap(
    (line) => /^ {2}(?:Note over )?(\w+?)(?:,(\w+)|-[->x]*?(?:>>|x)(\w+))?: /.exec(line)?.slice(1) ?? [],
  )
  for (const name of used.filter((each) => each !== undefined)) expect(declared).toContain(name)
  expect(declared).toEqual([...new Set(declared)])
})

test('the diagram shows sender, recipient and result', () => {
  expect(toMermaid(trace, now)).toBe(`sequenceDiagram
  participant them as the other side
  participant us
  participant hook1 as webhook 00000002
  Note over us: +0 ms credential OfferPending
  us--xhook1: +5 ms OfferPending: failed (500) in 3 ms
  us->>them: +2.3 s offer-credential: taken in 12 ms, attempt 3, peer#58;abcdef → peer#58;uvwxyz, before: connection refused
  Note over us: +2.3 s credential OfferPending → OfferSent
  us-->>hook1: +5.0 s OfferPending: delivered (200) in 4 ms, attempt 2
  Note over them,us: waiting: the other side has not answered for 3 min 5 s: credential OfferSent (waiting for the holder to accept the offer)`)
})
