/** The pages of links that people open in a browser, over HTTP. */
import { createHash } from 'node:crypto'
import { request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { sharedAgent, startAgent, type TestAgent } from '../support/agent.ts'
import { encode, offerByInvitation, acceptOfferInvitation } from '../support/invitation.ts'
import { oobOf } from '../support/tenants.ts'
import { ask } from '../support/ask.ts'
import { keyOf, newHolder } from '../exchange/enterprise/_suite.ts'
import { untilEnd } from '../support/shared.ts'

/** The Accept header of browsers. */
const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'

const agent = await untilEnd(startAgent())

const holder = newHolder()

async function get(url: string, accept: string | undefined = browser, method = 'GET') {
  const response = await fetch(url, { method, headers: accept === '' ? {} : { accept }, redirect: 'manual' })
  return { status: response.status, headers: response.headers, text: await response.text() }
}
const post = async (url: string, body: unknown) =>
  (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).status

type Product = {
  collection: string
  content: (made: any) => object
  link: (content: any) => string
  answer: (content: any) => unknown
  title: string
  nameless: string
  unknown: string
}

const unknownId = '2Fe27FgoZSFmSgW8WFEdMBCa7fDeMuzdei3R7gZmU7ejrXXdXNhRJPB'
const products: Record<'a DID request' | 'a challenge', Product> = {
  'a DID request': {
    collection: '/onboard/did-requests',
    content: ({ didRequest }) => didRequest,
    link: ({ onboardEndpoint }) => onboardEndpoint,
    answer: () => ({ did: holder.did }),
    title: '<bdi>“Acme Ltd”</bdi> asks for your DID',
    nameless: 'Request for your DID',
    unknown: `/onboard/${unknownId}`,
  },
  'a challenge': {
    collection: '/did-authentication/challenges',
    content: ({ challenge }) => challenge,
    link: ({ submissionEndpoint }) => submissionEndpoint,
    answer: ({ nonce }) => holder.answer(nonce),
    title: '<bdi>“Acme Ltd”</bdi> asks you to sign in',
    nameless: 'Sign in with your DID',
    unknown: `/did-authentication/challenge-submissions/${unknownId}`,
  },
}

/** Creates a DID request or a challenge. `url` is its link. */
async function create(at: TestAgent, { collection, content, link, answer }: Product, from?: string) {
  const apiKey = keyOf(at)
  const made = (await ask(at, `POST ${collection}`, { apiKey, body: { from } })).body
  const itself = `${collection}/${made.id}`
  return {
    url: link(content(made)),
    content: content(made),
    answer: answer(content(made)),
    read: async () => (await ask(at, `GET ${itself}`, { apiKey })).body,
    remove: () => ask(at, `DELETE ${itself}`, { apiKey }),
  }
}

const invitation = async (goal = 'a staff card') => {
  const made = await agent.tenant('POST /connections', { body: { goal } })
  return { made, url: `${agent.url}/invitation?_oob=${oobOf(made)}` }
}

/** Splits a page into its tags, its QR code and its texts to copy. */
const tagsOf = (page: string) => page.replaceAll(/<figure[^]*?<\/figure>/g, '<figure>').match(/<[^>]*>/g)
/** Returns the content of a copy field. */
const copied = (page: string, index = 0) => {
  const names: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
  const text = [...page.matchAll(/<textarea[^>]*>([^<]*)<\/textarea>/g)][index]![1]!
  return text.replaceAll(/&(#?\w+);/g, (_, name: string) => names[name]!)
}

/** Names that contain markup, templates or invisible characters. */
const hostile = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  "' onmouseover='alert(1)",
  '</textarea></title></style><script>alert(1)</script>',
  '<!--',
  '-->]]><svg/onload=alert(1)>',
  '&lt;b&gt;&#60;b&#x3e;',
  '{{7*7}}${7*7}<%= 7*7 %>',
  'javascript:alert(1)',
  '\u0000\u001b[31m\u0007<\u0000script>',
  'Acme\u202e\u2066gnp.exe\u2069\u200b\u{e0041}',
  `a${'\u0301'.repeat(400)}`,
  'W'.repeat(1_000),
  ' \u00a0\u2003 ',
]

describe.each(Object.entries(products))('%s', (_, product) => {
  const { title, nameless, unknown } = product
  const begin = (at: TestAgent, from?: string) => create(at, product, from)

  test('is a page for browsers and JSON for programs', async () => {
    const { url, content } = await begin(agent, 'Acme Ltd')
    const page = await get(url)
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.text).toMatch(/^<!doctype html>\s*<html lang="en">/)
    expect(page.text).toContain(`<h1 class="from">${title}</h1>`)
    expect(page.text).toContain('<title>Acme Ltd asks ')
    expect(page.text).toMatch(/<svg\s+class="qr"\s+role="img"\s+aria-label="QR code of [^"]+"/)
    expect(JSON.parse(copied(page.text))).toEqual(content)
    for (const accept of [
      'application/json',
      '*/*',
      '',
      'application/*',
      'image/png',
      'text/html;q=0.5, application/json',
    ]) {
      const { status, headers, text } = await get(url, accept)
      expect([status, headers.get('content-type'), headers.get('vary'), JSON.parse(text)]).toEqual([
        200,
        'application/json',
        'Accept, Accept-Language',
        content,
      ])
    }
  })

  test('is available under the base paths', async () => {
    const { url } = await begin(agent)
    for (const prefix of ['/enterprise', '/cloud-agent', '/cloud-agent/enterprise']) {
      expect((await get(url.replace(agent.url, agent.url + prefix))).status).toBe(200)
    }
  })

  test('does not change when it is opened, and its answer is accepted afterwards', async () => {
    const { url, answer, read } = await begin(agent, 'Acme')
    const before = await read()
    const opened = Array.from({ length: 40 }, (_each, index) =>
      get(url, index % 2 ? browser : 'application/json', index % 3 ? 'GET' : 'HEAD'),
    )
    expect((await Promise.all(opened)).every(({ status }) => status === 200)).toBe(true)
    expect(await read()).toEqual(before)
    expect(await post(url, answer)).toBe(200)
    expect(await read()).toMatchObject({ state: 'success' })
  })

  test('is 410 when it is used, refused, deleted or expired, and 404 when it never existed', async () => {
    const short = await sharedAgent({ AUTH_CHALLENGE_EXPIRY: '0', DID_REQUEST_EXPIRY: '0' })
    const [used, declined, deleted, over] = [
      await begin(agent),
      await begin(agent),
      await begin(agent),
      await begin(short),
    ]
    expect(await post(used.url, used.answer)).toBe(200)
    expect(await post(declined.url, null)).toBe(400)
    await deleted.remove()
    for (const { url } of [used, declined, deleted, over]) {
      const page = await get(url)
      expect([page.status, page.headers.get('content-type')]).toEqual([410, 'text/html; charset=utf-8'])
      expect(page.text).toContain('<h1>This link is closed</h1>')
      expect(page.text).not.toMatch(/<svg|<textarea/)
      const { status, text } = await get(url, 'application/json')
      expect([status, JSON.parse(text)]).toMatchObject([
        410,
        { status: 410, type: expect.stringMatching(/^\/errors\/\w+\/[a-z-]+-expired$/) },
      ])
    }
    for (const path of [
      unknown,
      unknown.replace(/[^/]*$/, 'x'),
      unknown.replace(/[^/]*$/, '%3Cscript%3Ealert(1)%3C%2Fscript%3E'),
    ]) {
      const page = await get(agent.url + path)
      expect([page.status, page.text.includes('This link is unknown')]).toEqual([404, true])
      expect(page.text).not.toContain('script')
      expect(JSON.parse((await get(agent.url + path, '*/*')).text)).toMatchObject({
        type: expect.stringMatching(/-not-found$/),
      })
    }
    const long = await get(agent.url + unknown + 'x'.repeat(200))
    expect([long.status, long.text.includes('This link cannot be read')]).toEqual([400, true])
  })

  test('refreshes itself when it expires', async () => {
    const { url } = await begin(agent)
    const seconds = Number((await get(url)).headers.get('refresh'))
    expect(seconds).toBeGreaterThan(60)
    expect(seconds).toBeLessThanOrEqual(86_400)
  })

  test('shows a hostile name as text, never as markup', async () => {
    const plain = tagsOf((await get((await begin(agent, 'Acme')).url)).text)
    const open = (from: string) =>
      begin(agent, from).then(async ({ url }) => ({
        ...(await get(url)),
        content: JSON.parse((await get(url, '*/*')).text) as unknown,
      }))
    for (const from of hostile.slice(0, -1)) {
      const { status, text, content } = await open(from)
      expect(status).toBe(200)
      expect(normal(tagsOf(text))).toEqual(normal(plain))
      expect(text).not.toMatch(
        // oxlint-disable-next-line no-control-regex -- control characters must not be there
        /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]|\u{e0041}/u,
      )
      expect(JSON.parse(copied(text))).toEqual(content)
    }
    expect((await open(hostile[0]!)).text).toContain('“&lt;script&gt;alert(1)&lt;/script&gt;”')
    expect((await open(hostile.at(-1)!)).text).toContain(`<h1 class="from">${nameless}</h1>`)
    expect((await open('W'.repeat(1_000))).text).toContain(`“${'W'.repeat(200)}…”`)
  })

  test('has no QR code when the text is too long, and says so', async () => {
    const { url, content } = await begin(agent, '👍'.repeat(1_000))
    const { text } = await get(url)
    expect(text).not.toContain('<svg class')
    expect(text).toContain('too long for a QR code')
    expect(JSON.parse(copied(text))).toEqual(content)
  })
})

/** Tags without the parts that depend on the time. */
function normal(tags: readonly string[] | null): string[] | undefined {
  return tags?.map((tag) => tag.replace(/datetime="[^"]*"|content="\d+"/, ''))
}

test('pages forbid everything except their own style and script, and send no referrer', async () => {
  const { url } = await create(agent, products['a challenge'])
  const links = [
    url,
    (await invitation()).url,
    `${agent.url}/invitation?_oob=no`,
    `${agent.url}/onboard/none`,
  ]
  for (const link of links) {
    const { headers, text } = await get(link)
    const policy = headers.get('content-security-policy')!
    const digest = (tag: string) => {
      const inline = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(text)?.[1]
      return inline === undefined ? undefined : createHash('sha256').update(inline).digest('base64')
    }
    const script = digest('script')
    expect(script === undefined).toBe(link !== url)
    const live = script === undefined ? '' : ` script-src 'sha256-${script}'; connect-src 'self';`
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${digest('style')}';${live} img-src data:; form-action 'none'; frame-ancestors 'none'; base-uri 'none'`,
    )
    expect(Object.fromEntries(headers)).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex, nofollow',
      vary: 'Accept, Accept-Language',
    })
    expect(text).not.toMatch(/<script[^>]|<iframe|<form|\son\w+=|\sstyle=|<base|@import|url\(/i)
    // No external resource is referenced.
    expect(text).not.toMatch(/\s(?:src|action|formaction|xlink:href)=|href="(?!data:)/i)
  }
  const api = await get(`${agent.url}/_system/health`)
  expect(api.headers.get('content-security-policy')).toBe("default-src 'none';frame-ancestors 'none'")
})

describe('an invitation', () => {
  test('is a page with its goal, its QR code and its text, and JSON for programs', async () => {
    const { made, url } = await invitation()
    const { status, text } = await get(url)
    expect(status).toBe(200)
    expect(text).toContain('<h1>You are invited to connect</h1>')
    expect(text).toContain('“a staff card”')
    expect(text).toContain(`<bdi>${new URL(agent.didcommUrl).host}</bdi>`)
    expect([copied(text), copied(text, 1)]).toEqual([url, oobOf(made)])
    const { headers, text: json } = await get(url, '*/*')
    expect(headers.get('content-type')).toBe('application/json')
    expect(JSON.parse(json)).toEqual(JSON.parse(Buffer.from(oobOf(made), 'base64url').toString()))
    expect(
      await agent.tenant('GET /connections/{connectionId}', { path: { connectionId: made.connectionId } }),
    ).toEqual(made)
  })

  test('names an attached offer, and is accepted by its link', async () => {
    const open = await sharedAgent({ REST_SERVICE_URL: 'https://agent.acme.com/base' })
    const [issuer, holder] = [await open.newTenant(), await open.newTenant()]
    const made = await offerByInvitation({ ...issuer }, { goal: 'a diploma' })
    const { invitationUrl } = made.invitation!
    expect(invitationUrl).toMatch(/^https:\/\/agent\.acme\.com\/base\/invitation\?_oob=[A-Za-z0-9]+={0,2}$/)
    const { text } = await get(invitationUrl.replace('https://agent.acme.com/base', open.url))
    expect(text).toContain('<h1>You are offered a credential</h1>')
    expect(text).toMatch(/It can be accepted until\s+<time/)
    expect(copied(text)).toBe(invitationUrl)
    expect(await acceptOfferInvitation(holder, invitationUrl)).toMatchObject({ thid: made.thid })
  })

  test('names an attached proof request', async () => {
    const made = await agent.tenant('POST /present-proof/presentations/invitation', {
      body: { goal: 'your age', proofs: [] },
    })
    const { text } = await get(`${agent.url}/invitation?_oob=${oobOf(made)}`)
    expect(text).toContain('<h1>You are asked for a proof</h1>')
  })

  test('of OpenID4VP names the credentials and the claims that are requested', async () => {
    const query = (id: string, vct: string, claims?: { path: string[] }[]) => ({
      id,
      format: 'dc+sd-jwt',
      meta: { vct_values: [vct] },
      ...(claims && { claims }),
    })
    const person = query('a', 'https://issuer.example/types/Person', [
      { path: ['name'] },
      { path: ['address', '<b>'] },
    ])
    const jwt = {
      id: 'c',
      format: 'jwt_vc_json',
      meta: { type_values: [['VerifiableCredential', 'Licence']] },
      claims: [{ path: ['credentialSubject', 'level'] }],
    }
    const { openid4vp } = await agent.tenant('POST /present-proof/presentations/openid4vp', {
      body: { dcqlQuery: { credentials: [person, query('b', 'urn:x:Badge'), jwt] }, issuers: 'any' },
    })
    const { text } = await get(openid4vp!.pageUrl)
    const rows = [...text.matchAll(/<dt>(.*?)<\/dt>\s*<dd>(.*?)<\/dd>/gs)].map(([, ...row]) => row)
    expect(rows).toEqual([
      ['Person', 'name, address.&lt;b&gt;'],
      ['Badge', 'that you have it, without further data'],
      ['Licence', 'level'],
    ])
  })

  test.each([
    ['https://agent.acme.com', 'https://agent.acme.com/invitation'],
    ['http://8.8.8.8:8085/cloud-agent/', 'http://8.8.8.8:8085/cloud-agent/invitation'],
    ['http://192.168.1.5:8085', 'https://my.domain.com/path'],
    ['http://localhost:8085', 'https://my.domain.com/path'],
  ])('of an agent at %s has the URL %s', async (url, base) => {
    await using other = await startAgent({ REST_SERVICE_URL: url })
    const { invitation: made } = await other.tenant('POST /connections', { body: {} })
    expect(made.invitationUrl.split('?_oob=')[0]).toBe(base)
    const holder = await other.newTenant()
    expect(
      await holder.call('POST /connection-invitations', { body: { invitation: made.invitationUrl } }),
    ).toMatchObject({ thid: made.id })
  })

  const minimal = {
    id: '1',
    type: 'https://didcomm.org/out-of-band/2.0/invitation',
    from: 'did:example:other',
  }
  const link = (value: unknown) =>
    `${agent.url}/invitation?_oob=${typeof value === 'string' ? value : encode(value)}`

  test('of any agent is rendered, also without an address or a goal', async () => {
    const { status, text } = await get(link(minimal))
    expect(status).toBe(200)
    expect(text).toContain('did:example:other')
    expect(text).not.toMatch(/<blockquote|Your messages go/)
  })

  test('that has expired has no QR code, and shows the time of expiry', async () => {
    const { status, text } = await get(
      link({ ...minimal, expires_time: 1_700_000_000, body: { goal: 'a card' } }),
    )
    expect(status).toBe(200)
    expect(text).toContain('<h1>This invitation has expired</h1>')
    expect(text).toContain('14 November 2023')
    expect(text).not.toMatch(/<svg class|<textarea/)
  })

  test('that contains hostile texts shows them as text', async () => {
    const page = async (words: string) =>
      (await get(link({ ...minimal, id: words, body: { goal: words, goal_code: words, label: words } }))).text
    const plain = tagsOf(await page('Acme'))
    for (const words of hostile.slice(0, -1)) {
      const text = await page(words)
      expect(tagsOf(text)).toEqual(plain)
      expect(text).not.toMatch(
        // oxlint-disable-next-line no-control-regex -- control characters must not be there
        /[\u0000-\u0008\u000e-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2066-\u2069]|\u{e0041}/u,
      )
    }
  })

  test.each([
    ['nothing', ''],
    ['markup', encodeURIComponent('"><script>alert(1)</script>')],
    ['markup in base64', Buffer.from('<script>alert(1)</script>').toString('base64url')],
    ['a broken percent sign', '%E0%A4%A'],
    ['bytes that are not UTF-8', Buffer.from([0xff, 0xfe, 0]).toString('base64url')],
    ['half of an invitation', encode({ ...minimal }).slice(0, 60)],
    ['a text', encode('<b>')],
    ['a list', encode([minimal])],
    ['another type', encode({ ...minimal, type: '<script>alert(1)</script>' })],
    ['no DID', encode({ ...minimal, from: 'did:x:"><script>alert(1)</script>' })],
    ['a name of markup', encode({ ...minimal, created_time: '<script>', attachments: [{ '<script>': 1 }] })],
    ['a date that is none', encode({ ...minimal, expires_time: 1e300 })],
    ['deep JSON', Buffer.from('['.repeat(5_000)).toString('base64url')],
    ['15,000 characters', 'A'.repeat(15_000)],
  ])('that is %s is refused in words, and not shown', async (_, oob) => {
    const page = await get(link(oob))
    expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8'])
    expect(page.text).toContain('<h1>This link cannot be read</h1>')
    expect(page.text).not.toMatch(/script/i)
    expect(page.text.length).toBeLessThan(10_000)
    const json = await get(link(oob), '*/*')
    expect([json.status, JSON.parse(json.text).type]).toEqual([
      400,
      'error:ConnectionServiceError:InvitationParsingError',
    ])
  })

  test('is missing in a link without one, and the first of several is used', async () => {
    for (const query of ['', '?', '?oob=x', '?x=_oob=y']) {
      const { status, text } = await get(`${agent.url}/invitation${query}`)
      expect([status, text.includes('the link has no _oob parameter')]).toEqual([400, true])
    }
    expect((await get(`${link(minimal)}&_oob=no&utm_source=%22%3E`)).status).toBe(200)
  })

  test('that is longer than any request is refused before it is read', async () => {
    const status = await new Promise((resolve, reject) => {
      const asked = request(link('A'.repeat(40_000)), { headers: { accept: browser } }, (response) =>
        resolve(response.resume().statusCode),
      )
      asked.on('error', reject).end()
    })
    expect(status).toBe(431)
  })
})

describe('the language', () => {
  const closed = { en: 'This link is unknown', de: 'Dieser Link ist unbekannt' }
  test.each([
    [undefined, 'en'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['en-US,en;q=0.9,de;q=0.8', 'en'],
    ['de;q=0.3, en;q=0.7', 'en'],
    ['fr-CH, fr;q=0.9, de;q=0.7, *;q=0.5', 'de'],
    ['fr, ja', 'en'],
    ['*', 'en'],
    ['de;q=0', 'en'],
    ['<script>', 'en'],
    [';;q=,,', 'en'],
    ['de,'.repeat(2_000), 'de'],
  ] as const)('of a request that accepts %s is %s', async (accepted, language) => {
    const response = await fetch(`${agent.url}/onboard/none`, {
      headers: { accept: browser, 'accept-language': accepted ?? '*' },
    })
    const text = await response.text()
    expect(response.headers.get('content-language')).toBe(language)
    expect(response.headers.get('vary')).toContain('Accept-Language')
    expect(text).toContain(`<html lang="${language}">`)
    expect(text).toContain(`<h1>${closed[language]}</h1>`)
  })

  test('is that of all texts and of dates, with the time zone', async () => {
    const { url } = await create(agent, products['a challenge'], 'Acme GmbH')
    const german = async (link: string) =>
      (await fetch(link, { headers: { accept: browser, 'accept-language': 'de' } })).text()
    const page = await german(url)
    expect(page).toContain('<title>Acme GmbH bittet um Ihre Anmeldung – identity-agent</title>')
    expect(page).toContain('<bdi>„Acme GmbH“</bdi> bittet um Ihre Anmeldung')
    expect(page).toMatch(/>\d{1,2}\. \p{L}+ \d{4} um \d{2}:\d{2}:\d{2} UTC<\/time>/u)
    // Nothing is left in English but names.
    for (const link of [url, (await invitation()).url, `${agent.url}/`])
      expect(await german(link)).not.toMatch(/\b(?:the|your|you|this|wallet app|link accepts)\b/i)
  })
})
