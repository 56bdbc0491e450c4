/** Keys that move and act, and the message of a key that does nothing. */
import { afterEach, expect, test } from 'vitest'
import { emptyData, type Data } from '../../../cli/tui/data/data.ts'
import { codes, pasted, recorded, showDashboard, type Dashboard } from './_dashboard.ts'
import { invitationUrl, now, offered, wallet } from './_wallet.ts'

let dashboard: Dashboard | undefined
afterEach(() => dashboard?.close())

function show(data: Data = wallet, answers = {}) {
  const { daemon, store, asked, set } = recorded(data, answers)
  dashboard = showDashboard(daemon, store, { clock: () => now })
  return { ...dashboard, asked, set }
}

const lineOf = (frame: string, mark: string) => frame.split('\n').find((line) => line.startsWith(mark))
const tabOf = (frame: string) => /\[(\d [^\]]+)\]/.exec(frame)?.[1]

const many: Data = {
  ...wallet,
  connections: Array.from({ length: 100 }, (_, index) => ({
    ...wallet.connections[0]!,
    connectionId: `id-${index}`,
    label: `label ${index}`,
  })),
}

test.each([
  [[codes.tab], '2 Credentials 5 !2'],
  [[codes.right, 'l'], '3 Proofs 3 !2'],
  [[codes.shiftTab], '6 Events 6'],
  [[codes.left, 'h'], '5 Webhooks 1'],
  [['4'], '4 DIDs 2'],
  [['6', codes.tab], '1 Connections 2'],
])('%j goes to the pane %s', async (keys, tab) => {
  const { type, frame } = show()
  await type(...keys)
  expect(tabOf(frame())).toBe(tab)
})

test.each([
  [[codes.down], 98],
  [['jjj'], 96],
  [['jjj', 'k', codes.up], 98],
  [[codes.end], 0],
  [['G'], 0],
  [['G', 'g'], 99],
  [[codes.pageDown], 93],
  [[codes.pageDown, codes.pageDown, codes.pageUp], 93],
  [[codes.up], 99],
  [['G', 'j'], 0],
])('%j selects label %i of a hundred, the newest of which is first', async (keys, number) => {
  const { type, frame } = show(many)
  await type(...keys)
  expect(lineOf(frame(), '│›')).toContain(`label ${number} `)
})

test('the selection stays on its item when new items arrive, and on the first position', async () => {
  const { type, frame, set, shows } = show(many)
  const more = {
    ...many,
    connections: [...many.connections, { ...many.connections[0]!, connectionId: 'new', label: 'new one' }],
  }
  set(more)
  await shows('› new one')
  await type('j', 'j')
  set({
    ...more,
    connections: [...more.connections, { ...many.connections[0]!, connectionId: 'newer', label: 'newer' }],
  })
  await shows('  newer')
  expect(lineOf(frame(), '│›')).toContain('label 98')
})

test('Enter maximises the details, arrows scroll them to their end, and Esc restores the list', async () => {
  const { type, frame } = show({
    ...wallet,
    credentials: [
      {
        ...wallet.credentials[0]!,
        claims: Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`n${index}`, index])),
      },
    ],
  })
  await type('2', codes.enter)
  expect(frame()).toContain('claim n0 ')
  await type('G')
  expect(frame()).toContain('claim n39')
  expect(frame()).not.toContain('claim n0 ')
  await type('k', 'g')
  expect(frame()).toContain('claim n0 ')
  await type(codes.escape)
  expect(frame()).toContain('CLAIMS')
  await type('JJJJ')
  expect(frame()).toMatch(/ 4 above(,| ─┐)/)
})

test.each([
  ['credentials', '[2 Credentials 5'],
  ['filter issued', 'filter: issued ─'],
  ['offer', 'Offer a credential: over which connection?'],
  ['create-did', '… '],
  ['label', 'Label the connection'],
  ['help', 'Keys (Esc closes)'],
  ['reload', '✓ Reloaded.'],
  ['lable', '✗ There is no command “lable”. Did you mean label?'],
  ['qqqqqq', '✗ There is no command “qqqqqq”. Tab lists the commands.'],
  ['issue', '✗ There is no “issue” now: it is in '],
  ['trace now', '✗ The command trace takes no words after it.'],
])('the command line runs %s', async (line, shown) => {
  const { after } = show(wallet, { 'POST /did-registrar/dids': new Promise(() => undefined) })
  await after(`:${line}`, codes.enter).shows(shown)
})

test('the command line completes, repeats earlier lines, and quits', async () => {
  const { type, frame, quits } = show()
  await type(':cred', codes.tab)
  expect(frame()).toContain(':credentials▏')
  await type(codes.enter, ':pro', codes.tab, codes.enter)
  expect(tabOf(frame())).toContain('3 Proofs')
  await type(':', codes.up, codes.up)
  expect(frame()).toContain(':credentials▏')
  await type(codes.down, codes.down)
  expect(frame()).toContain(':▏')
  await type('fil', codes.tab, 'Held', codes.enter, '2')
  expect(tabOf(frame())).toContain('2 Credentials')
  await type(':', codes.escape, ':', codes.backspace, ':quit', codes.enter)
  expect(quits()).toBe(1)
})

test('a filter matches all its words in any order, and Esc clears it', async () => {
  const { type, frame } = show()
  await type('2', '/', 'ALICE offer')
  expect(frame()).toContain('2 Credentials 1/5')
  await type(codes.backspace, codes.backspace, codes.backspace, codes.backspace, codes.backspace, codes.enter)
  expect(frame()).toContain('filter: ALICE')
  await type(codes.escape)
  expect(frame()).toContain('2 Credentials 5')
  await type('/', 'zzz', codes.escape)
  expect(frame()).toContain('2 Credentials 5')
})

test.each([
  ['1', 'y', invitationUrl],
  ['1', 'Y', wallet.connections[1]!.connectionId],
  ['2', 'y', wallet.credentials[4]!.recordId],
  ['3', 'y', wallet.proofs[2]!.presentationId],
  ['4', 'y', wallet.dids[1]!.did],
  ['5', 'y', wallet.webhooks[0]!.id],
  ['6', 'y', wallet.events[5]!.id],
])('in pane %s, %s copies what it says', async (pane, key, text) => {
  const { type, frame, copied } = show()
  await type(pane, key)
  expect(copied).toEqual([text])
  expect(frame()).toContain('✓ Copied the ')
})

test.each([
  ['1', 'a', 'accept'],
  ['2', 'i', 'issue'],
  ['2', 'a', 'accept'],
  ['2', 'r', 'revoke'],
  ['3', 'p', 'present'],
  ['3', 'v', 'accept'],
  ['3', 'x', 'reject'],
  ['4', 'Q', 'QR'],
  ['6', 't', 'test'],
])('in pane %s, %s does nothing but say so where there is no %s', async (pane, key, word) => {
  const { type, frame, asked } = show()
  await type(pane, key)
  expect(frame()).toContain(`✗ There is no “${word}” now`)
  expect(asked.filter(([key]) => !key.startsWith('GET '))).toEqual([])
})

test('in an empty list there is nothing to accept', async () => {
  const { type, frame } = show({ ...emptyData, link: { is: 'live' } })
  await type('2', 'a')
  expect(frame()).toContain('There is no “accept” now: the list is empty.')
})

test.each([
  ['2', ['G'], 'x', 'POST /issue-credentials/records/{recordId}/reject-offer'],
  ['2', ['j', 'j'], 'r', 'PATCH /credential-status/revoke-credential/{id}'],
  ['3', ['G'], 'x', 'PATCH /present-proof/presentations/{presentationId}'],
  ['3', ['j'], 'x', 'PATCH /present-proof/presentations/{presentationId}'],
  ['1', [], 'x', 'DELETE /connections/{connectionId}'],
])('in pane %s, after %j, %s asks before it calls %s', async (pane, moves, key, called) => {
  const { type, asked } = show()
  const calls = () => asked.map(([key]) => key).filter((key) => !key.startsWith('GET '))
  for (const no of ['n', codes.escape, codes.enter, codes.ctrlC]) await type(pane, 'g', ...moves, key, no)
  expect(calls()).toEqual([])
  await type(pane, 'g', ...moves, key, 'y')
  expect(calls()).toEqual([called])
})

test('one action runs at a time, and further keys are not queued', async () => {
  let end: (nothing: undefined) => void = () => undefined
  const { type, asked, shows } = show(wallet, {
    'POST /issue-credentials/records/{recordId}/issue-credential': new Promise((resolve) => (end = resolve)),
  })
  await type('2', 'G', 'k', 'i', 'i', 'i')
  await shows('… Issuing …')
  end(undefined)
  await shows('✓ The credential is issued')
  expect(asked.filter(([key]) => key.endsWith('/issue-credential'))).toHaveLength(1)
})

test('Esc closes a form without an action, and a paste becomes one line of a field', async () => {
  const { type, frame, asked } = show()
  await type('n', '1', 'Bobx', codes.backspace, ...pasted(' and\nhis agent\n'), codes.tab, '\u0015')
  expect(frame()).toContain('label  Boband his agent')
  await type(codes.escape)
  expect(frame()).toContain('  NAME')
  expect(asked).toEqual([])
})

test('a paste that is not an invitation triggers no keys', async () => {
  const { type, frame, asked } = show()
  await type('2', 'j', 'j', ...pasted('ryq'))
  expect(frame()).toContain('[2 Credentials 5 !2]')
  expect(asked.filter(([key]) => !key.startsWith('GET '))).toEqual([])
})

test('keys of one chunk answer the questions that earlier keys open', async () => {
  const { type, shows } = show()
  await type('n1Bob\tCome in\u001bn2')
  await shows('─ Accept an invitation')
  await type('nonsense\u001bn')
  await shows('6 Add a webhook')
})

test('a text that is not an invitation is rejected', async () => {
  const { type, frame } = show()
  await type('n', '2', 'nonsense', codes.enter)
  expect(frame()).toContain('✗ This is not an invitation. Paste the whole')
  expect(frame()).toContain('› invitation  nonsense')
  await type(codes.backspace)
  expect(frame()).not.toContain('This is not an invitation')
})

test('a form shows the error of invalid claims and keeps the input', async () => {
  const did = { didDocument: { assertionMethod: [`${wallet.dids[0]!.did}#assertion-1`] } }
  const { type, shows, frame, asked } = show(wallet, { 'GET /dids/{didRef}': did })
  await type('n', '3', '1')
  await shows('Which DID issues it?')
  await type('1')
  await shows('Claims of the credential')
  await type(codes.enter)
  expect(frame()).toContain('✗ A credential needs a claim: write one, such as name=Alice.')
  await type('age:=x', codes.enter)
  expect(frame()).toContain('✗ claim age: the value after := is not JSON')
  await type(codes.backspace, '42', codes.enter)
  await shows('The offer is on its way to the holder.')
  expect(asked.at(-1)).toMatchObject([
    'POST /issue-credentials/credential-offers',
    { body: { claims: { age: 42 }, credentialFormat: 'JWT' } },
  ])
})

test('the claims of a schema are typed and chosen in fields of their own', async () => {
  const { type, shows, frame, asked } = show(wallet, {
    ...offered,
    'POST /oid4vci/issuers/{issuerId}/credential-offers': { recordId: 'x', credentialOffer: 'openid:' },
  })
  await type('n', '3', '3')
  await shows('Which credential is offered?')
  await type('1')
  await shows('Claims of Employee')
  await type(codes.enter)
  expect(frame()).toContain('✗ Given name: This claim is required.')
  await type('Ann', codes.tab, codes.tab, '4.2', codes.enter)
  expect(frame()).toContain('✗ Employee number: It is an integer, such as 42.')
  await type(codes.backspace, codes.backspace, codes.tab, codes.tab, codes.right, codes.right)
  expect(frame()).toMatch(/› Leads a team +not given +true +\[false\]/)
  await type(codes.tab, ' ', codes.enter)
  await shows('Offering …')
  expect(asked.at(-1)).toMatchObject([
    'POST /oid4vci/issuers/{issuerId}/credential-offers',
    {
      body: {
        claims: { givenName: 'Ann', number: 4, isManager: false, grade: 'junior' },
        credentialConfigurationId: 'Employee',
        issuingDID: undefined,
      },
    },
  ])
})

const person = {
  name: 'Person',
  format: 'dc+sd-jwt',
  types: ['https://issuer.example/types/Person'],
  claims: [{ name: 'name', title: 'Full name' }, { name: 'age' }],
}

test('a request to a wallet names a type that the wallet issues or holds, and its claims', async () => {
  const { type, shows, frame, asked } = show(wallet, {
    'GET /credential-types': {
      contents: [{ ...person, issuedBy: { issuerId: 'i', issuingDID: wallet.dids[0]!.did } }],
    },
    'POST /present-proof/presentations/openid4vp': new Promise(() => undefined),
  })
  await type('n', '4', '3')
  await shows('Which credential is requested?')
  expect(frame()).toContain('Person  issued by this wallet')
  await type('1')
  await shows('Proof request for a wallet')
  expect(frame()).toMatch(/› Full name +\[yes\] +no/)
  await type(codes.tab, ' ', codes.enter)
  await shows('Requesting …')
  expect(asked.at(-1)).toMatchObject([
    'POST /present-proof/presentations/openid4vp',
    {
      body: {
        dcqlQuery: {
          credentials: [{ meta: { vct_values: person.types }, claims: [{ path: ['name'] }] }],
        },
        issuers: [wallet.dids[0]!.did],
        did: wallet.dids[0]!.did,
      },
    },
  ])
})

test.each(['q', codes.ctrlC])('%j quits', async (key) => {
  const { type, quits } = show()
  await type(key)
  expect(quits()).toBe(1)
})

test('q is a letter in an input, and q, Esc and Enter close the help', async () => {
  const { type, quits, frame } = show()
  await type(
    '/',
    'q',
    codes.escape,
    'n',
    '1',
    'q',
    codes.escape,
    '?',
    'q',
    '?',
    codes.escape,
    '?',
    codes.enter,
  )
  expect(quits()).toBe(0)
  expect(frame()).toContain('  NAME')
})

test('R reloads everything', async () => {
  const { type, shows } = show()
  await type('R')
  await shows('✓ Reloaded.')
})
