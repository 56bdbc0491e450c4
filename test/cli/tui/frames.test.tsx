/**
 * What the dashboard looks like: each pane, page and question, on the smallest usual screen and on a large
 * one.
 */
import { readFileSync } from 'node:fs'
import { stripVTControlCharacters } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { hasColours, colour, uncoloured } from '../../../cli/format/colour.ts'
import { widthOf } from '../../../cli/format/text.ts'
import { ProblemError } from '../../../daemon/client/client.ts'
import { emptyData } from '../../../cli/tui/data/data.ts'
import { layoutOf } from '../../../cli/tui/session/ui.ts'
import { help } from '../../../cli/tui/session/page.ts'
import { codes, pasted, recorded, showDashboard, type Dashboard, type Options } from './_dashboard.ts'
import { invitationUrl, now, offered, wallet } from './_wallet.ts'

let dashboard: Dashboard | undefined

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now }))
afterEach(() => {
  dashboard?.close()
  vi.useRealTimers()
})

const content = {
  recordId: wallet.credentials[2]!.recordId,
  credentialFormat: 'JWT',
  issuer: wallet.dids[0]!.did,
  subject: wallet.dids[1]!.did,
  claims: { degree: { name: 'BSc', year: 2020 } },
  schemas: ['https://agent.example/schema-registry/schemas/degree'],
  validUntil: '2027-11-20T12:00:00.000Z',
  standing: { status: 'not-revoked' },
  header: {},
  payload: {},
}

function show(data = wallet, options: Options & { answers?: Record<string, unknown> } = {}) {
  const { daemon, store, asked, set } = recorded(data, {
    'GET /issue-credentials/records/{recordId}/credential': content,
    ...options.answers,
  })
  dashboard = showDashboard(daemon, store, options)
  return { ...dashboard, asked, set }
}

const file = (name: string) => `frames/${name}.txt`

test.each([
  ['connections', '1'],
  ['credentials', '2'],
  ['proofs', '3'],
  ['dids', '4'],
  ['webhooks', '5'],
  ['events', '6'],
])('the pane of %s', async (name, key) => {
  const { type, frame } = show()
  await type(key)
  await expect(frame()).toMatchFileSnapshot(file(name))
})

test.each([
  ['wide', { columns: 140, rows: 24 }],
  ['widest', { columns: 170, rows: 24 }],
])('areas beside each other on a %s screen', async (name, size) => {
  const { type, frame } = show(wallet, { size })
  await type('2', 'G')
  await expect(frame()).toMatchFileSnapshot(file(name))
})

test('at 120 columns the details have three fifths of the width, and no id is cut', async () => {
  const { list, details } = layoutOf({ size: { columns: 120, rows: 40 }, isZoomed: false, isPlain: false })
  expect([list.width, details.width]).toEqual([48, 72])
  const expiresAt = new Date(now + 29.5 * 86_400_000).toISOString()
  const proofs = wallet.proofs.map((each) => ({ ...each, status: 'RequestSent' as const, expiresAt }))
  for (const columns of [120, 160]) {
    const { type, frame } = show({ ...wallet, proofs }, { size: { columns, rows: 40 } })
    await type('3')
    expect(frame()).toContain(proofs.at(-1)!.presentationId)
    expect(frame()).toMatch(/expires .*, in 30 d +│/)
    dashboard!.close()
  }
})

test('a distance in time is not broken', async () => {
  const expiresAt = new Date(now + 29.5 * 86_400_000).toISOString()
  const proofs = [{ ...wallet.proofs[0]!, status: 'RequestSent' as const, expiresAt }]
  const { type, frame, resize } = show({ ...wallet, proofs })
  await type('3')
  for (let columns = 60; columns < 80; columns++) {
    resize({ columns, rows: 30 })
    expect(frame()).toContain('in 30 d')
  }
})

test('a request over OpenID4VP is listed by its claims and its type', async () => {
  const vct = 'https://issuer.example/oid4vci/issuers/01a20000-0000-7000-8000-000000000001/types/Person'
  const query = {
    credentials: [
      { id: 'p', format: 'dc+sd-jwt', meta: { vct_values: [vct] }, claims: [{ path: ['name'] }] },
    ],
  }
  const requestData = [JSON.stringify({ dcql_query: query })]
  const openid4vp = { authorizationRequest: 'openid4vp://?request_uri=https://x.example' }
  const request = {
    ...wallet.proofs[1]!,
    connectionId: undefined,
    status: 'RequestCreated' as const,
    requestData,
    openid4vp,
  }
  const { type, frame } = show({ ...wallet, proofs: [request] as never }, { size: { columns: 80, rows: 44 } })
  await type('3')
  expect(frame()).toMatch(/› a wallet: Person: name/)
  expect(frame().replaceAll(/[\s│]/g, '')).toContain(vct)
  expect(frame().split('\n').at(-1)).not.toMatch(/messages|ping|label/)
})

test('a credential, decoded', async () => {
  const { type, shows } = show()
  await type('2', 'j', 'j', codes.enter)
  await expect(await shows('valid until')).toMatchFileSnapshot(file('credential'))
})

test('a presentation with its claims, maximised', async () => {
  const { type, frame } = show()
  await type('3', 'j', codes.enter)
  await expect(frame()).toMatchFileSnapshot(file('presentation'))
})

test.each([
  ['first-steps', emptyData, []],
  ['help', wallet, ['?']],
  ['new', wallet, ['n']],
  ['invite', wallet, ['n', '1', 'B', 'o', 'b', codes.tab]],
  ['filter', wallet, ['2', '/', 'h', 'o', 'l', 'd']],
  ['filter-that-nothing-fits', wallet, ['2', '/', '#', codes.enter]],
  ['revoke', wallet, ['2', 'j', 'j', 'r']],
  ['qr-that-does-not-fit', wallet, ['Q']],
  ['refused-key', wallet, ['2', 'v']],
  ['take-invitation', wallet, pasted(invitationUrl)],
] as const)('%s', async (name, data, keys) => {
  const { type, frame } = show({ ...data, link: { is: 'live' } })
  await type(...keys)
  await expect(frame()).toMatchFileSnapshot(file(name))
})

test('docs/reference/tui.md shows the current screen and all keys', async () => {
  const page = readFileSync(new URL('../../../docs/reference/tui.md', import.meta.url), 'utf8')
  const { type, frame } = show()
  await type('2', 'G')
  await expect(frame()).toMatchFileSnapshot(file('offer-to-answer'))
  expect(page).toContain(frame())
  await type('?')
  expect(frame()).not.toContain('…')
  for (const [keys, what] of help.flatMap((group) => group.keys))
    expect(page).toContain(`| \`${keys}\` | ${what} |`)
})

test('an invitation as a QR code fills the screen', async () => {
  const { type, frame, resize } = show(wallet, { size: { columns: 90, rows: 50 } })
  await type('Q')
  await expect(frame()).toMatchFileSnapshot(file('qr'))
  resize({ columns: 160, rows: 50 })
  expect(frame().split('\n')[1]).toMatch(/█.*Scan the code, or copy its URL:/)
  await type(codes.escape)
  expect(frame()).toContain('[1 Connections 2]')
})

test.each([true, false])('the page of an invitation has its whole URL (plain: %s)', async (isPlain) => {
  const [, shop] = wallet.connections
  const url = `https://agent.example?_oob=${'eyJpZCI6Ij'.repeat(150)}`
  const connections = [{ ...shop!, invitation: { ...shop!.invitation, invitationUrl: url } }]
  const { type, frame } = show({ ...wallet, connections }, { isPlain, size: { columns: 80, rows: 30 } })
  await type('Q')
  expect(frame().replaceAll(/[\s│]/g, '')).toContain(url)
})

test('for screen readers the details are not cut at the end of the line', async () => {
  const { type, frame } = show(wallet, { isPlain: true })
  expect(frame()).toMatch(/^\[1 Connections 2\] 2 Credentials !2 /m)
  await type('4', codes.enter)
  expect(frame()).toMatch(/ did +did:prism:[cd]+~[cd]+$/m)
  expect(frame()).not.toMatch(/~$/m)
})

test('an expired credential is listed as expired, and a record without claims by its goal', async () => {
  const jwt = `e30.${Buffer.from('{"exp":1}').toString('base64url')}.c2ln`
  const [record] = wallet.credentials
  const expired = { ...record!, credential: Buffer.from(jwt).toString('base64url') }
  const { type, frame } = show({
    ...wallet,
    credentials: [expired, { ...record!, claims: {}, goal: 'Your diploma' }],
  })
  await type('2')
  expect(frame()).toMatch(/name=Alice age=42 +Holder +expired /)
  expect(frame()).toMatch(/Your diploma +Holder +OfferReceived /)
})

test('the claims of an offer are typed one after the other', async () => {
  const answers = {
    'GET /dids/{didRef}': { didDocument: { assertionMethod: [`${wallet.dids[0]!.did}#assertion-1`] } },
  }
  const { type, shows, frame } = show(wallet, { answers })
  await type('n', '3', '1')
  await shows('Which DID issues it?')
  await type('1')
  await shows('Claims of the credential')
  await type(
    'name=Ann',
    codes.backspace,
    codes.backspace,
    'nn',
    codes.tab,
    'age:=42',
    codes.tab,
    codes.tab,
    codes.right,
    codes.tab,
    '90d',
    codes.tab,
    ' ',
    codes.tab,
    codes.tab,
    codes.tab,
  )
  await expect(frame()).toMatchFileSnapshot(file('offer'))
})

test.each([
  ['offer-by-schema', { columns: 80, rows: 24 }],
  ['offer-by-schema-wide', { columns: 120, rows: 40 }],
])('a form has a field for each property of a schema: %s', async (name, size) => {
  const { type, shows, frame } = show(wallet, { answers: offered, size })
  await type('n', '3', '3')
  await shows('Which credential is offered?')
  await type('1')
  await shows('Claims of Employee')
  await type('Ann', codes.tab, codes.tab)
  await expect(frame()).toMatchFileSnapshot(file(name))
})

test('a form that does not fit is scrolled', async () => {
  const { type, shows, frame } = show(wallet, { answers: offered, size: { columns: 60, rows: 16 } })
  await type('n', '3', '3')
  await shows('Which credential is offered?')
  await type('1')
  await shows('› Given name *')
  expect(frame()).toContain('field 1 of 9')
  await type(codes.up)
  expect(frame()).toMatch(/› code +\[none\]/)
  expect(frame()).not.toContain('Given name')
})

test('an error shows its reason and its hint on several lines', async () => {
  const problem = {
    status: 400,
    type: 'error:CredentialServiceError:InvalidStateForOperation',
    title: 'Wrong state',
    detail:
      'The record has expired in the meantime, and nothing can be done with it any more than to look at it.',
  }
  const { type, shows } = show(wallet, {
    answers: { 'POST /issue-credentials/records/{recordId}/issue-credential': new ProblemError(problem) },
  })
  await type('2', 'G', 'k', 'i')
  await expect(await shows('Wrong state')).toMatchFileSnapshot(file('refused'))
})

test.each([
  ['away', { is: 'away' }],
  ['turned-away', { is: 'refused', why: 'The API key is not valid.' }],
] as const)('the daemon is %s', async (name, link) => {
  await expect(show({ ...wallet, link }).frame()).toMatchFileSnapshot(file(name))
})

test('a terminal that is too small shows the required size', async () => {
  const { resize, frame } = show()
  resize({ columns: 59, rows: 24 })
  expect(frame()).toContain('The terminal has 59×24; the dashboard needs 60×16.')
  resize({ columns: 60, rows: 16 })
  expect(frame()).toContain('[1 Connections 2]')
})

test.each([
  [60, 16],
  [80, 24],
  [119, 30],
  [120, 30],
  [200, 60],
])('a frame of %i×%i fills the screen and no more', async (columns, rows) => {
  // Characters of two columns, of one, and of none.
  const label = '北京 café e\u0301 👩‍🚀 ❤️'
  const connections = wallet.connections.map((each) => ({ ...each, label }))
  const { frame, type } = show({ ...wallet, connections }, { size: { columns, rows } })
  for (const keys of [
    ['1'],
    ['2'],
    ['2', 'j', 'j'],
    ['2', codes.enter],
    [codes.enter, '6'],
    ['n'],
    [codes.escape, '?'],
    ['x', '1', 'Q'],
  ]) {
    await type(...keys)
    const lines = frame().split('\n')
    expect(lines.length).toBe(rows)
    const widths = lines.map((line) => widthOf(stripVTControlCharacters(line)))
    expect(Math.max(...widths)).toBe(columns)
    expect(widths.filter((_, row) => /^[│┌├└]/.test(lines[row]!) && widths[row] !== columns)).toEqual([])
  }
})

test.each([
  [60, 16],
  [80, 24],
  [100, 50],
  [120, 40],
])('at %i×%i no hint, choice or key is cut', async (columns, rows) => {
  const answers = {
    'GET /dids/{didRef}': { didDocument: { assertionMethod: [`${wallet.dids[0]!.did}#assertion-1`] } },
  }
  const { type, frame, shows } = show(wallet, { size: { columns, rows }, answers })
  const { isWide, list } = layoutOf({ size: { columns, rows }, isZoomed: false, isPlain: false })
  const lines = () => frame().split('\n')
  /** The lines of a question, which are below or beside the list. */
  const question = () => {
    const beside = lines().map((line) => line.slice(isWide ? list.width : 0))
    return beside.slice(beside.findIndex((line) => /^[┌├]─ /.test(line))).join('\n')
  }
  const isWhole = () => {
    expect(question()).toContain('Esc cancel')
    expect(question()).not.toContain('…')
  }
  for (const keys of [
    ['n'],
    ['1'],
    [codes.escape, 'n', '2'],
    [codes.escape, 'n', '6'],
    [codes.escape, 'L'],
    [codes.escape, 'n', '3'],
  ]) {
    await type(...keys)
    isWhole()
  }
  await type('1')
  await shows('Which DID issues it?')
  await type('1')
  await shows('Claims of the credential')
  isWhole()
  await type(codes.enter)
  isWhole()
  await type(codes.escape, 'n', '4', '1')
  isWhole()
  await type(codes.escape)
  for (const keys of [['1'], ['j'], ['2'], ['j'], ['j'], ['G'], ['3'], ['G'], ['4'], ['5'], ['6']]) {
    await type(...keys)
    expect(lines()[1]).not.toContain('…')
    expect(lines().at(-1)).toMatch(/ {2}n new {2}\? help {2}q quit$/)
  }
  await type('?')
  /** The lines of the box in front of the lists. */
  const box = () => {
    const first = lines().findIndex((line) => line.includes('┌─ Keys'))
    const left = lines()[first]!.indexOf('┌─ Keys')
    const right = lines()[first]!.indexOf('┐', left)
    const inside = lines().map((line) => line.slice(left, right))
    return inside.slice(
      first,
      inside.findLastIndex((line) => line.startsWith('└─')),
    )
  }
  expect(box().join('\n')).not.toContain('…')
  await type('G')
  expect(box().join(' ')).toMatch(/paste[ │]+it[ │]+anywhere\./)
})

test('texts of other parties cannot control the terminal', async () => {
  const evil = '\u001b]0;owned\u0007\u001b[2Jred\u001b[31m\u202e\r\nnext'
  const connection = { ...wallet.connections[1]!, label: evil, goal: evil }
  const credential = { ...wallet.credentials[0]!, claims: { [evil]: evil } }
  const proof = { ...wallet.proofs[0]!, goal: evil, requestData: [evil] }
  const event = { ...wallet.events[0]!, data: { [evil]: evil, state: evil, thid: evil } }
  const webhook = { ...wallet.webhooks[0]!, url: `http://x/${evil}` }
  const data = {
    ...wallet,
    connections: [connection],
    credentials: [credential],
    proofs: [proof],
    events: [event],
    webhooks: [webhook],
  }
  const { type, frame } = show({ ...data, link: { is: 'refused', why: evil } })
  for (const keys of [['1'], ['2'], ['3'], ['5'], ['6'], ['Q'], ['1', '/', 'red']]) {
    await type(...keys)
    // oxlint-disable-next-line no-control-regex
    expect(frame()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/)
  }
  expect(frame()).toContain('red')
})

test('colours only accompany words, and NO_COLOR disables them', async () => {
  const terminal = { isTTY: true }
  expect(show(wallet, { paint: colour(terminal, { NO_COLOR: '1' }) }).frame()).not.toContain('\u001b')
  dashboard!.close()
  expect(show(wallet, { paint: uncoloured }).frame()).toContain('\u001b[7m› the shop')
  dashboard!.close()
  expect(hasColours(terminal, {})).toBe(true)
  const { type, frame } = show(wallet, { paint: colour(terminal, {}) })
  await type('2', 'G')
  expect(frame()).toContain('\u001b[32mCredentialSent')
  expect(frame()).toContain('\u001b[36mRequestSent')
  await type('3')
  expect(frame()).toContain('\u001b[31mPresentationVerificationFailed')
  // A valid proof that waits for a decision is green, and its mark is not.
  expect(frame()).toContain('\u001b[32mPresentationVerified')
  expect(frame()).toContain('\u001b[33m!')
})
