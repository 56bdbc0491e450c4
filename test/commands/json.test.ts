/** The `--json` output matches docs/reference/json.md. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Report } from '../../build/docs/shape.ts'
import { shapes } from '../../build/docs/shapes.ts'
import { keysFor } from '../../src/did/document.ts'
import { resolvePeerDid } from '../../src/did/peer.ts'
import { packAnoncrypt } from '../../src/exchange/didcomm/pack.ts'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { until } from '../support/tenants.ts'
import { startFakeIssuer } from '../exchange/oid4vci/holder/_issuer.ts'
import { givesRefreshTokens } from '../exchange/oid4vci/holder/_refresh.ts'
import { authority, pemOf, signRequest } from '../foundation/x509/_chains.ts'
import { iaca } from '../foundation/x509/_mdoc.ts'
import { listOf, payloadOf, provider, textOf } from '../wallet/trust-anchors/_vical.ts'
import { printed, type User, words } from './_cli.ts'
import { serveTwoTenants } from './_agents.ts'

const { user, other } = serveTwoTenants('holder', { inProcess: false })

/** The commands whose output was compared. */
const compared = new Set<string>()

/** Runs a command. Returns its JSON documents, which must match the documented schema without extra fields. */
function read(id: string, out: string): any {
  compared.add(id)
  const { type } = shapes[id]!
  const document: unknown = JSON.parse(out)
  const parsed = type.safeParse(document)
  expect(parsed.error, `${id}: ${out}`).toBeUndefined()
  expect(unknownFields(document, parsed.data), `agent ${id.replaceAll(':', ' ')}`).toEqual([])
  return document
}

/** The paths of fields that are missing in the schema: parsing drops them. */
function unknownFields(document: unknown, parsed: unknown, path = ''): string[] {
  if (typeof document !== 'object' || document === null || typeof parsed !== 'object' || parsed === null)
    return []
  return Object.entries(document).flatMap(([name, value]) =>
    name in parsed
      ? unknownFields(value, (parsed as Record<string, unknown>)[name], `${path}.${name}`)
      : [`${path}.${name}`],
  )
}

async function run(line: string, as: Pick<User, 'run'> = user, exitCode = 0): Promise<any> {
  const words = line.split(' ')
  const id = [3, 2, 1]
    .map((count) => words.slice(0, count).join(':'))
    .find((each) => shapes[each] !== undefined)!
  const { code, out, err } = await as.run`${words} --json`
  expect(code, `${line}: ${err}`).toBe(exitCode)
  expect(err).toBe('')
  return read(id, out)
}

const holder = (line: string) => run(line, other)

test('wallets, tenants and their keys', async () => {
  const { id: walletId } = await run('wallet create spare')
  await run('wallet list')
  await run(`wallet show ${walletId}`)
  const { id } = await run('tenant create carol')
  await run('tenant list')
  expect(await run(`tenant rename ${id} caroline`)).toMatchObject({ id, name: 'caroline' })
  expect(await run(`tenant move ${id} ${walletId}`)).toMatchObject({ id, walletId })
  expect(await run(`tenant show ${id}`)).toMatchObject({ name: 'caroline', walletId })
  const { apiKey, id: key } = await run(`tenant key create ${id} --name first`)
  const caroline = user.as({ AGENT_API_KEY: apiKey })
  await run('connection list', caroline)
  const file = join(user.folder, 'caroline.key')
  await run(`tenant key create ${id} --key-file ${file} --scope holder --expires-in 90d`)
  expect((await user.run`connection list --api-key-file ${file}`).code).toBe(0)
  expect((await run(`tenant key list ${id}`)).contents.map(({ name }: any) => name)).toEqual([
    undefined,
    'first',
    undefined,
  ])
  // Both keys are valid until the overlap ends.
  const {
    id: next,
    expiresAt,
    ...rotated
  } = await run(`tenant key create ${id} --replaces ${key} --overlap 2d`)
  expect([rotated.name, expiresAt]).toEqual(['first', undefined])
  expect((await run(`tenant key list ${id}`)).contents.find((each: any) => each.id === key)).toMatchObject({
    state: 'active',
    expiresAt: expect.any(String),
  })
  // An existing file is not overwritten, and a key is not revoked without confirmation.
  expect((await user.run`tenant key create ${id} --key-file ${file}`).code).toBe(2)
  expect((await user.run`tenant key revoke ${id} ${next}`).code).toBe(2)
  expect(await run(`tenant key revoke ${id} ${next} --yes`)).toMatchObject({ id: next, state: 'revoked' })
  expect((await user.as({ AGENT_API_KEY: rotated.apiKey }).run`connection list`).code).toBe(4)
  expect((await user.run`tenant key revoke ${id} ${walletId} --yes`).code).toBe(3)
  await run('connection list', caroline)
  // As the administrator, for a named wallet.
  await run('event trigger ConnectionUpdated', caroline)
  const tail = user.spawn`event tail --wallet ${walletId} --after 00000000-0000-0000-0000-000000000000 --json`
  await printed(tail.stdout, '\n')
  tail.kill('SIGINT')
  for (const line of (await tail).stdout.split('\n')) read('event:tail', line)
  expect((await tail).exitCode).toBe(130)
  const [event] = (await run(`event list --wallet ${walletId}`)).contents
  expect(await run(`event show ${event.id} --wallet ${walletId}`)).toEqual(event)
  expect((await user.run`event show ${event.id}`).code).toBe(3)
  expect((await caroline.run`event list --admin-key-file ${file} --wallet ${walletId}`).code).toBe(4)
  expect(await run(`wallet stats ${walletId}`)).toMatchObject({ walletId, connections: { total: 0 } })
  await run(`tenant remove ${id} --keep-wallet --yes`)
  // The wallet stays until it is removed.
  expect(await run(`wallet show ${walletId}`)).toMatchObject({ id: walletId })
  await run(`wallet remove ${walletId} --yes`)
  expect((await run('wallet list')).contents).not.toContainEqual(expect.objectContaining({ id: walletId }))
  const { id: gone } = await run('tenant create dave')
  expect(await run(`tenant remove ${gone} --with-wallet --yes`)).toMatchObject({
    id: gone,
    walletRemoved: true,
  })
})

test('DIDs, connections, credentials and proofs', async () => {
  const { did } = await run('did create')
  await run(`did publish ${did} --wait`)
  await run('did list')
  await run(`did show ${did}`)
  await run(`did label ${did} Issuer`)
  await run(`did resolve ${did}`)
  await run(`did update ${did} --add-key auth-9:authentication --wait`)
  await run('did restore')
  const { longFormDid: subject } = await holder('did create --assertion-curve none --auth-curve Ed25519')

  const { connectionId, invitation } = await run('connection invite --label Holder')
  const { connectionId: peer } = await holder(`connection accept ${invitation.invitationUrl} --wait`)
  await run(`connection show ${connectionId}`)
  await run('connection list')
  await holder(`connection update ${peer} --accept-offers --subject ${subject}`)
  await holder(`connection update ${peer} --no-accept-offers`)
  await run(`didcomm ping ${connectionId} --timeout 1m`)
  await run(`trace ${connectionId}`)
  await run(`message send hello --connection ${connectionId}`)
  await run('message list')

  const { recordId } = await run(
    `credential offer --connection ${connectionId} --issuing-did ${did} --claim name=Alice --auto`,
  )
  const offered = async () => {
    const find = async () =>
      (await holder('credential list')).contents.find(
        ({ protocolState }: any) => protocolState === 'OfferReceived',
      )
    return (await until('an offer', find, (record) => record !== undefined)).recordId
  }
  const held = await offered()
  await holder(`credential accept ${held} --subject ${subject} --wait`)
  expect((await holder(`credential show ${held}`)).content).toBeDefined()
  const { credential } = await holder(`credential export ${held}`)
  await run(`credential verify ${credential}`)
  const { content } = await holder(`credential show ${held}`)
  const { statusListCredential: list } = statusOf(credential)
  expect((await user.run`credential status-list ${list}`).out).toContain(', 0 of them set')
  await run(`credential status-list ${list}`)
  expect(content.claims).toMatchObject({ name: 'Alice' })

  const { presentationId } = await run(`proof request --connection ${connectionId} --any-issuer`)
  const find = async () =>
    (await holder('proof list')).contents.find(({ status }: any) => status === 'RequestReceived')
  const asked = await until('a request', find, (record) => record !== undefined)
  await holder(`proof present ${asked.presentationId} --credential ${held} --wait`)
  const verified = async () => (await run(`proof show ${presentationId}`)).status
  await expect.poll(verified).toBe('PresentationVerified')
  await run(`proof accept ${presentationId}`)
  await holder(`proof remove ${asked.presentationId} --yes`)

  const query = join(user.folder, 'query.json')
  const meta = { type_values: [['VerifiableCredential']] }
  writeFileSync(query, JSON.stringify({ credentials: [{ id: 'a', format: 'jwt_vc_json', meta }] }))
  const { openid4vp } = await run(`proof request --oid4vp --any-issuer --dcql ${query}`)
  await holder(`oid4vc present ${openid4vp.authorizationRequest} --credential ${held} --yes`)

  await run(`credential offer --connection ${connectionId} --issuing-did ${did} --claim name=Bob`)
  await holder(`credential reject ${await offered()}`)

  await run(`credential revoke ${recordId} --yes`)
  expect((await user.run`credential status-list ${list}`).out).toContain(', 1 of them set')
  await run(`credential verify ${credential}`, user, 8)
  await holder(`credential remove ${held} --yes`)
  const invited = await run(`credential offer --invitation --issuing-did ${did} --claim name=Eve`)
  const taken = await holder(`credential accept-invitation ${invited.invitation.invitationUrl}`)
  await holder(`credential accept ${taken.recordId} --subject ${subject} --wait=RequestSent`)
  const requested = async () => (await run(`credential show ${invited.recordId}`)).protocolState
  await expect.poll(requested).toBe('RequestReceived')
  await run(`credential issue ${invited.recordId}`)
  const { invitation: request } = await run('proof request --invitation --any-issuer')
  const declined = await holder(`proof accept-invitation ${request.invitationUrl}`)
  await holder(`proof reject ${declined.presentationId}`)

  const envelope = join(user.folder, 'envelope.json')
  writeFileSync(envelope, packFor((await run(`connection show ${connectionId}`)).myDid))
  await run(`didcomm unpack ${envelope}`)
  const { connectionId: open } = await run('connection invite')
  await run(`connection remove ${open} --yes`)
  await run(`did deactivate ${did} --yes --wait`)
})

/** A message that a DID can decrypt. */
function packFor(did: string): string {
  const { id: kid, publicKeyJwk: publicJwk } = keysFor(resolvePeerDid(did), 'keyAgreement')[0]!
  const message = { id: kid, type: 'https://didcomm.org/empty/1.0/empty', body: {} }
  return packAnoncrypt(message, { recipients: [{ kid, publicJwk }] })
}

/** The status list URL of a JWT credential. */
function statusOf(jwt: string): { statusListCredential: string } {
  return JSON.parse(Buffer.from(jwt.split('.')[1]!, 'base64url').toString()).vc.credentialStatus
}

test('schemas, policies and presentation definitions', async () => {
  const { did: author } = await run('did create --key issue-1:assertionMethod --publish --wait')
  const file = (name: string, json: object) => {
    mkdirSync(user.folder, { recursive: true })
    writeFileSync(join(user.folder, name), JSON.stringify(json))
    return `@${join(user.folder, name)}`
  }
  const employee = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { name: { type: 'string' } },
  }
  const schema = file('employee.json', employee)
  const made = await run(`schema publish --name employee --author ${author} --schema ${schema}`)
  await run(
    `schema publish --id ${made.id} --version 1.1.0 --name employee --author ${author} --schema ${schema} --sign`,
  )
  expect((await run('schema list --name employee')).contents).toHaveLength(2)
  await run(`schema show ${made.guid}`)
  await run(`schema validate ${made.guid} --claim name=Alice`)
  const raw = await user.run`schema show ${made.guid} --raw`
  expect(JSON.parse(raw.out)).toEqual(employee)

  // With a DID URL, in an envelope.
  const publish = words`schema publish --name employee --author ${author} --schema ${schema} --did-url`
  const printed = (await user.run(publish)).out
  expect(printed).toMatch(new RegExp(`url +${author}\\?resourceService=`))
  const guid = /schema +(\S+)/.exec(printed)![1]!
  const shown = await user.run`schema show ${guid} --did-url --json`
  const { resource, url } = JSON.parse(shown.out)
  expect(url).toContain(guid)
  const opened = JSON.parse(Buffer.from(resource, 'base64url').toString())
  expect(opened).toMatchObject({ guid, name: 'employee' })
  expect((await user.run`schema list --did-url -q`).out).toBe(guid)
  expect(JSON.parse((await user.run`schema show ${guid} --did-url --raw`).out)).toEqual(employee)
  expect((await user.run`schema show ${guid}`).code).toBe(3)
  const next = await user.run`${publish} --id ${opened.id} --version 2.0.0 -q`
  expect((await user.run`schema list --did-url -q`).out.split('\n')).toEqual([next.out, guid])

  const policy = await run(`policy create --name p --schema ${made.guid}`)
  await run('policy list')
  await run(`policy show ${policy.id}`)
  await run(`policy update ${policy.id} --name q`)
  await run(`policy remove ${policy.id} --yes`)

  const named = '--name Acme --uri https://issuer.example/acme --dns issuer.example'
  const certificate = await run(`issuer-cert init ${named}`)
  const { id: requested, request } = await run(`issuer-cert request ${named}`)
  await run('issuer-cert list')
  await run(`issuer-cert show ${certificate.id}`)
  expect((await user.run`issuer-cert show ${requested} --root`).err).toContain('has no certificate yet')
  const chain = join(user.folder, 'chain.pem')
  writeFileSync(chain, await signRequest(request, await authority('CN=Root')))
  await run(`issuer-cert import ${requested} ${chain}`)
  expect((await user.run`issuer-cert show ${requested} --root`).err).toContain('does not include its root')
  const { id: another } = await run(`issuer-cert request ${named}`)
  const wrong = await user.run`issuer-cert import ${another} ${chain}`
  expect(wrong.err).toContain('is for another key')
  expect((await user.run`issuer-cert show ${certificate.id} --root`).out).toBe(certificate.root)
  expect((await user.run`issuer-cert show ${requested} --csr`).out).toContain('CERTIFICATE REQUEST')
  await run(`issuer-cert remove ${requested} --yes`)
  const licences = '--for mdoc --country UT --name Licences'
  const signer = await run(`issuer-cert init ${licences} --province UT-1 --curve P-384`)
  expect(signer).toMatchObject({ profile: 'mdoc', publicKey: { crv: 'P-384' } })
  expect(await run(`issuer-cert request ${licences}`)).toMatchObject({ state: 'requested', names: [] })
  expect((await user.run`issuer-cert init --for mdoc --name Licences`).err).toContain('--country')
  expect((await user.run`issuer-cert init --name Acme --uri https://a.example --curve P-384`).code).toBe(2)
  expect(await run(`issuer-cert revoke ${signer.id} --yes`)).toMatchObject({ state: 'revoked' })
  expect((await user.run`issuer-cert revoke ${certificate.id} --yes`).err).toContain('remove it instead')
  expect(await run(`issuer-cert renew ${signer.id}`)).toMatchObject({ state: 'ready', root: signer.root })

  const anchorFile = join(user.folder, 'root.pem')
  const root = await authority('CN=Root')
  writeFileSync(anchorFile, pemOf(root))
  const anchor = await run(`trust add ${anchorFile} --name root`)
  expect((await user.run`trust add ${anchorFile}`).err).toContain('is the same')
  expect((await user.run`trust add ${chain}`).err).toContain('is not of an authority')
  writeFileSync(anchorFile, signer.root)
  const ofLicences = await run(`trust add ${anchorFile} --doc-type org.iso.18013.5.1.mDL`)
  expect(ofLicences).toMatchObject({ docTypes: ['org.iso.18013.5.1.mDL'] })
  expect((await user.run`trust show ${ofLicences.id}`).out).toContain('org.iso.18013.5.1.mDL')
  expect((await user.run`trust add did:web:a.example --doc-type a`).err).toContain('docTypes')
  const [list, providerFile] = [join(user.folder, 'vical.cbor'), join(user.folder, 'provider.pem')]
  writeFileSync(providerFile, pemOf(provider))
  const entries = [{ made: await iaca(), docTypes: ['org.iso.18013.5.1.mDL'] }]
  writeFileSync(list, Buffer.from(textOf(await listOf(payloadOf(entries))), 'base64'))
  const vical = await run(`trust add ${list} --signer ${providerFile}`)
  expect(vical).toMatchObject({ type: 'vical', list: { provider: 'Utopia', certificates: 1 } })
  expect((await user.run`trust show ${vical.id}`).out).toMatch(/certificates +1\n/)
  expect((await user.run`trust add ${list} --signer ${chain}`).err).toContain('is not a trust anchor')
  expect((await user.run`trust add missing.pem`).err).toContain('missing.pem cannot be read')
  expect((await user.run`trust add /dev/null`).err).toContain('/dev/null is empty. Give a file')
  expect(await run('trust add did:web:issuer.example')).toMatchObject({ type: 'did' })
  expect(await run('trust add aki:YWtp')).toMatchObject({ type: 'aki', value: 'YWtp' })
  await run('trust list')
  await run(`trust show ${anchor.id}`)
  expect((await user.run`trust show ${anchor.id} --value`).out).toBe(pemOf(root))
  await run(`trust remove ${anchor.id} --yes`)

  const { url: entry } = await run('vdr create hello')
  expect(await run(`vdr show ${entry}`)).toEqual({ url: entry, content: 'aGVsbG8=' })
  await run(`vdr proof ${entry}`)
  await run(`vdr update ${entry} changed`)
  await run(`vdr remove ${entry} --yes`)

  const definition = {
    input_descriptors: [{ id: 'name', constraints: { fields: [{ path: ['$.vc.credentialSubject.name'] }] } }],
  }
  const { id } = await run(`presentation-definition create ${file('definition.json', definition)}`)
  await run('presentation-definition list')
  expect(await run(`presentation-definition show ${id}`)).toMatchObject({ id, ...definition })
  expect((await user.run`presentation-definition show ${id}`).out).toContain('$.vc.credentialSubject.name')
  await run(`presentation-definition match ${id}`)
})

test('OpenID4VCI issuers', async () => {
  const { did } = await run('did create --key issue-1:assertionMethod --publish --wait')
  const schema = JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: { name: { type: 'string' } },
  })
  const { guid } = await user.json`schema publish --name person --author ${did} --schema ${[schema]}`
  await run('template list')
  await run('template show person')
  const { id } = await run('issuer create --name Acme')
  await run('issuer list')
  await run(`issuer configuration add ${id} --id Person --schema ${guid}`)
  expect(await run(`issuer secret ${id}`)).toEqual({ secret: expect.stringMatching(/^whsec_/) })
  expect((await user.run`issuer secret ${id}`).out).toMatch(/the one before +signs until/)
  await run(`issuer configuration list ${id}`)
  await run(`issuer configuration show ${id} Person`)
  const source = '--claims-source https://hr.example/claims --on-failure fail --no-keep-claims'
  expect(await run(`issuer configuration update ${id} Person ${source}`)).toMatchObject({
    claimsSource: { url: 'https://hr.example/claims', onFailure: 'fail', keepClaims: false },
  })
  expect((await user.run`issuer configuration show ${id} Person`).out).toMatch(
    /claims source +https:\/\/hr.example\/claims, fails without an answer, claims are not kept/,
  )
  expect(await run(`issuer configuration update ${id} Person --no-claims-source`)).not.toHaveProperty(
    'claimsSource',
  )
  const asked = {
    dcqlQuery: {
      credentials: [{ id: 'pid', format: 'dc+sd-jwt', meta: { vct_values: ['urn:eudi:pid:1'] } }],
    },
    issuers: 'trusted',
  }
  const configuration = ['issuer', 'configuration', 'update', id, 'Person']
  expect(
    await user.json`${configuration} --presentation ${[JSON.stringify(asked)]} --issuing-did ${did} --begin presentation`,
  ).toMatchObject({ presentation: asked, begin: 'presentation' })
  expect((await user.run`issuer configuration show ${id} Person`).out).toMatch(
    /presentation before +pid of trusted issuers/,
  )
  expect(
    await run(`issuer configuration update ${id} Person --begin offer --no-presentation`),
  ).not.toHaveProperty('presentation')
  expect(
    await run(`issuer configuration update ${id} Person --issuing-did ${did} --name Person`),
  ).toMatchObject({ issuingDID: did, display: [{ name: 'Person' }] })
  expect(await run(`issuer preview ${id} --configuration Person`)).toMatchObject({ name: 'Person' })
  const renewed = '--begin open --renewal 90d --renewal-on-change revoke'
  expect(await run(`issuer configuration update ${id} Person ${renewed}`)).toMatchObject({
    renewal: { days: 90, onChange: 'revoke' },
  })
  expect(await run(`issuer offer ${id} --all`)).toMatchObject({ credential_configuration_ids: ['Person'] })
  expect((await run(`issuer show ${id}`)).metadata.credential_configurations_supported).toMatchObject({
    Person: { format: 'jwt_vc_json' },
  })
  const { credentialOffer, recordId: issued } = await user.json`
    credential offer --oid4vci ${id} --configuration Person --issuing-did ${did} --claim name=Alice
      --validity 1h
  `
  const received = await holder(`oid4vc receive ${credentialOffer} --yes`)
  expect(received.protocolState).toBe('CredentialReceived')
  await holder(`oid4vc refresh ${received.recordId}`)
  const { out: copies } = await user.run`credential show ${issued}`
  expect(copies).toMatch(
    /copies +2; the newest ends .*\nrenewals +1, last .*\nwallet said +credential_accepted, /,
  )
  await run(`credential revoke ${issued} --renewal-only --yes`)
  const refused = await other.run`oid4vc refresh ${received.recordId}`
  expect(refused).toMatchObject({
    code: 5,
    err: expect.stringContaining('was ended by the issuer; the credential stays as it is'),
  })
  expect(await run(`issuer update ${id} --no-bearer-deferral`)).toMatchObject({ bearerDeferral: false })
  expect((await user.run`issuer show ${id}`).out).toMatch(/bearer deferral +off/)
  const terms = `--oid4vci ${id} --configuration Person --claim name=Alice`
  const messages = '--deliver mailto:alice@example.org --code-to sms:+4915112345678 --locale de'
  const offering = `${terms} ${messages}`.split(' ')
  expect((await user.run`credential offer ${offering}`).err).toContain('agent webhook add <url> --deliver')
  const { id: webhook } = await user.json`webhook add http://127.0.0.1:9/send --deliver`
  expect((await user.run`webhook show ${webhook}`).out).toMatch(/delivers +e-mails and text messages/)
  const printed = await user.run`credential offer ${offering}`
  expect(printed.out).toMatch(/^[\da-f-]{36}$/)
  expect(printed.err).toContain('send the link to mailto:alice@example.org, the code to sms:+4915112345678')
  expect((await user.run`credential show ${printed.out}`).out).toMatch(
    /delivery +link to mailto:alice@example.org requested; code to sms:\+4915112345678 requested/,
  )
  expect((await run(`credential deliver ${printed.out}`)).delivery).toMatchObject({ locale: 'de' })
  await user.run`webhook remove ${webhook} --yes`
  await using renewing = await startFakeIssuer()
  givesRefreshTokens(renewing)
  const link = `openid-credential-offer://?credential_offer=${encodeURIComponent(renewing.offer())}`
  const { recordId: renewable } = await holder(`oid4vc receive ${link} --yes`)
  expect((await holder(`oid4vc refresh ${renewable}`)).openid4vci.renewal.count).toBe(1)
  await run(`issuer configuration remove ${id} Person --yes`)
  const secret = join(user.folder, 'client.secret')
  writeFileSync(secret, 'secret', { mode: 0o600 })
  const external = `--authorization-server https://login.example --client-id agent`
  const changed = await run(`issuer update ${id} ${external} --client-secret-file ${secret}`)
  expect(changed).toMatchObject({ id, authorizationServerUrl: 'https://login.example' })
  const [authorities, keys] = [join(user.folder, 'authorities.pem'), join(user.folder, 'keys.json')]
  writeFileSync(authorities, pemOf(await authority('CN=Wallet providers')))
  writeFileSync(keys, JSON.stringify({ keys: [toPublic(generateKey('P-256'))] }))
  const trusted = await run(
    `issuer update ${id} --wallet-providers ${authorities} --wallet-providers ${keys} --wallet-attestation required`,
  )
  expect(trusted).toMatchObject({ walletProviders: { jwks: {} }, walletAttestation: 'required' })
  expect((await user.run`issuer show ${id}`).out).toContain('certificates: 1, keys: 1')
  const attested = '--key-attestation --key-storage iso_18045_high'
  expect(await run(`issuer configuration add ${id} --id Person --schema ${guid} ${attested}`)).toMatchObject({
    keyAttestation: { keyStorage: ['iso_18045_high'] },
  })
  const texts = join(user.folder, 'texts.json')
  const own = { de: { code: { subject: 'Code', text: '{{code}}' } } }
  writeFileSync(texts, JSON.stringify(own))
  expect(await run(`issuer update ${id} --delivery-texts @${texts}`)).toMatchObject({ deliveryTexts: own })
  expect((await user.run`issuer show ${id}`).out).toMatch(/delivery texts +de/)
  expect(await run(`issuer update ${id} --delivery-texts null`)).not.toHaveProperty('deliveryTexts')
  expect(await run(`issuer update ${id} --no-wallet-providers`)).not.toHaveProperty('walletProviders')
  expect((await user.run`issuer update ${id} --wallet-providers ${secret}`).err).toContain('nor a JWK Set')
  await run(`issuer remove ${id} --yes`)
})

test('webhooks and events', async () => {
  const { id } = await run('webhook add http://127.0.0.1:9/hook --signed')
  await run('webhook list')
  expect(await run(`webhook show ${id}`)).toMatchObject({ id, signed: true })
  expect((await user.run`webhook show ${id}`).out).toMatch(/signed +yes/)
  await run(`webhook secret ${id}`)
  await run(`webhook secret ${id} --remove --yes`)
  expect((await user.run`webhook show ${id}`).out).toMatch(/signed +no/)
  await run(`webhook test ${id} --type DidRequestUpdated`, user, 1)
  await run(`webhook deliveries ${id}`)
  const event = await run('event trigger PresentationUpdated')
  await run(`event show ${event.id}`)
  await run('event list --limit 5')
  await run(`webhook replay ${id} --event ${event.id}`)
  await run(`event replay --to ${id} --event ${event.id}`)
  await run(`webhook remove ${id} --yes`)
  expect((await user.run`webhook show ${id}`).code).toBe(3)
})

test('onboarding and authentication', async () => {
  const request = await run('onboard create --from Acme')
  await run('onboard list')
  await run(`onboard show ${request.id}`)
  const { did } = read(
    'onboard:submit',
    (await other.run`onboard submit ${JSON.stringify(request)} --new --json`).out,
  )
  const third = await run('onboard create')
  read('accept', (await other.run`accept ${third.shortUrl} --yes --json`).out)
  const second = await run('onboard create')
  read('onboard:reject', (await other.run`onboard reject ${JSON.stringify(second)} --json`).out)
  await run(`onboard remove ${second.id} --yes`)

  const challenge = await run('signin create')
  expect((await user.run`signin token ${challenge.id}`).code).toBe(5)
  read(
    'signin:respond',
    (await other.run`signin respond ${JSON.stringify(challenge)} --did ${did} --json`).out,
  )
  await run('signin list')
  await run(`signin show ${challenge.id}`)
  expect(await run(`signin token ${challenge.id}`)).toMatchObject({ subject: did, tokenType: 'Bearer' })
  // Once.
  expect((await user.run`signin token ${challenge.id}`).code).toBe(5)
  await run(`signin remove ${challenge.id} --yes`)
})

test('wallets that move, the audit log, the master key and backups', async () => {
  const { id } = await run('wallet create moved')
  const [file, secret] = [join(user.folder, 'moved.wallet'), join(user.folder, 'passphrase')]
  writeFileSync(secret, 'correct horse battery staple', { mode: 0o600 })
  await run(`wallet export ${id} --output ${file} --passphrase-file ${secret} --move`)
  await run(`wallet resume ${id}`)
  await run(`wallet remove ${id} --yes`)
  await run(`wallet import ${file} --passphrase-file ${secret}`)
  await run('audit list --limit 5')
  await run('audit verify')
  await run('node list')
  await run('master-key rotate --yes')
  const backup = join(user.folder, 'backup')
  await run(`backup create ${backup} --with-master-key`)
  await run(`backup verify ${backup}`)
  await run(`backup restore ${backup} --data-dir ${join(user.folder, 'restored')}`)
})

test('an error is one line of JSON on standard error', async () => {
  for (const [line, exitCode] of [
    ['connection show 00000000-0000-4000-8000-000000000000', 3],
    ['connection show nonsense', 3],
    ['connection show', 2],
    ['connection list --limit none', 2],
    ['connection list --url http://127.0.0.1:1', 7],
    ['connection lst', 2],
  ] as const) {
    const { code, out, err } = await user.run`${line.split(' ')} --json`
    expect({ line, code, out }).toEqual({ line, code: exitCode, out: '' })
    expect(Report.strict().parse(JSON.parse(err))).toMatchObject({ exitCode })
  }
})

test('the daemon, the profiles and the doctor', async () => {
  await run('daemon start')
  await run('explain OfferReceived')
  await run(`decode did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK`)
  await run(`dcql from --schema urn:person --claim name`)
  await run('explain')
  await run('daemon status')
  await run('daemon restart')
  await run('daemon install --dry-run')
  await run('daemon uninstall')
  const { out } = await user.run`daemon logs --lines 3 --json`
  for (const line of out.split('\n')) read('daemon:logs', line)
  await run('config show --all')
  await run('config validate')
  await run('config schema')
  await run('version')
  await run('config set FLOW_EXPIRY 5m')
  await run('config unset FLOW_EXPIRY')
  await run(`init ${join(user.folder, 'new.yaml')} --yes`)
  await run('profile list')
  await run('profile show')
  await run('profile add far --url https://agent.example')
  await run('profile use far')
  await run('profile use local')
  await run('profile remove far --yes')
  await run('completion bash')
  const scenario = join(user.folder, 'scenario.json')
  writeFileSync(scenario, JSON.stringify({ steps: [{ run: 'connection list' }] }))
  await run(`run ${scenario}`)
  const doctor = await user.run`doctor --json`
  read('doctor', doctor.out)
  await run('daemon stop')
})

/** The commands that no test above runs, and why. */
const elsewhere: Readonly<Record<string, string>> = {
  'creddef:create': 'the keys of a definition take seconds: creddef.slow.test.ts',
  'creddef:list': 'as creddef create',
  'creddef:show': 'as creddef create',
  demo: 'demo.slow.test.ts',
  'event:listen': 'it runs until it is ended: event.test.ts',
  login: 'needs an OpenID provider: test/wallet/bearer-tokens/login.slow.test.ts',
  logout: 'as login',
  'node:drain': 'needs PostgreSQL: test/cluster',
  'wallet:grant': 'as login',
  'wallet:revoke': 'as login',
  'wallet:move': 'needs two daemons: wallet-moving.slow.test.ts',
}

test('every command is among them, or has a reason', () => {
  const missing = Object.keys(shapes).filter((id) => !compared.has(id))
  expect(missing.toSorted()).toEqual(Object.keys(elsewhere).toSorted())
})
