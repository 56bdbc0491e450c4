/** Commands offer, bind, request and present SD-JWTs. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { connect, credentialIn, newDid, presentationIn } from '../support/tenants.ts'
import { fails, words } from './_cli.ts'
import { startCommandedPair } from './_agents.ts'

test('an SD-JWT goes from offer to proof, described in words on each side', async () => {
  await using pair = await startCommandedPair()
  const { issuer, holder, user, as } = pair
  const { inviterConnectionId: connection } = await connect(issuer, holder)
  const { did } = await newDid(issuer, 'assertionMethod', 'Ed25519')
  const { did: subject } = await newDid(holder, 'authentication', 'Ed25519')
  const claims = '{"name": "Alice", "address": {"city": "Bern", "zip.code": 3000}, "tags": ["a", "b"]}'
  const offer = words`
    credential offer --connection ${connection} --issuing-did ${did} --claims ${claims} --auto
    --format
  `
  expect((await as(issuer).run`${offer} paper`).code).toBe(2)
  const offered = (await as(issuer).json`${offer} sdjwt`) as {
    thid: string
    credentialFormat: string
  }
  expect(offered.credentialFormat).toBe('SDJWT')
  const { recordId } = await credentialIn(holder.call, offered.thid, 'OfferReceived')
  const accepted = await as(holder).run`credential accept ${recordId} --subject ${subject} --key-id key-1`
  expect(accepted.out).toMatch(/^format +SD-JWT \(selective disclosure\)$/m)
  await credentialIn(holder.call, offered.thid, 'CredentialReceived')
  const shown = (await as(holder).run`credential show ${recordId}`).out
  for (const line of [
    /^format +SD-JWT \(selective disclosure\), bound to a key of the holder$/m,
    /^claim name +Alice$/m,
    /^claim address\.city +Bern$/m,
    /^claim address\.zip\\\.code +3000$/m,
    /^claim tags +\["a","b"\]$/m,
    /^disclosable +(?=.*\baddress\.city\b)(?=.*\baddress\.zip\\\.code\b)(?=.*\btags\.1\b).*\bname\b/m,
    /^validity +valid until \d{4}-\S+Z, in \d+ d$/m,
    /^status +not revoked$/m,
    new RegExp(`^issuer +${did}$`, 'm'),
    new RegExp(`^subject +${subject}(:\\S+)?$`, 'm'),
  ]) {
    expect(shown).toMatch(line)
  }
  const token = (await as(holder).run`credential export ${recordId}`).out
  expect(token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+~(\w+~)+$/)
  expect(await as(holder).json`credential export ${recordId}`).toEqual({
    recordId,
    credential: token,
  })
  const decoded = JSON.parse((await as(holder).run`credential export ${recordId} --as json`).out) as object
  expect(decoded).toMatchObject({
    claims: JSON.parse(claims),
    bound: true,
    standing: { status: 'not-revoked' },
    header: { typ: 'vc+sd-jwt' },
  })
  const file = join(user.folder, 'credential.sd-jwt')
  const exported = await as(holder).run`credential export ${recordId} --output ${file}`
  expect([exported.code, exported.out, readFileSync(file, 'utf8')]).toEqual([
    0,
    expect.stringContaining(file),
    `${token}\n`,
  ])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(await as(holder).run`credential export ${recordId} --output ${file}`).toMatchObject(
    fails(2, 'must be a new file'),
  )

  const ask = words`proof request --connection ${connection} --any-issuer --claim name --claim ${'address.zip\\.code'}`
  expect((await as(issuer).run(ask)).code).toBe(2)
  const request = (await as(issuer).json`${ask} --format sdjwt`) as {
    thid: string
    presentationId: string
  }
  const { presentationId } = await presentationIn(holder.call, request.thid, 'RequestReceived')
  const present = ['proof', 'present', presentationId, '--credential', recordId]
  expect(await as(holder).run`${present} --claim name --claim email`).toMatchObject(
    fails(2, 'has no claim email'),
  )
  expect((await as(holder).run`${present} --claim name --claim address`).code).toBe(0)
  await presentationIn(issuer.call, request.thid, 'PresentationVerified')
  const seen = (await as(issuer).run`proof show ${request.presentationId}`).out
  for (const line of [
    /^shown name +Alice$/m,
    /^shown address\.city +Bern$/m,
    /^shown address\.zip\\\.code +3000$/m,
  ])
    expect(seen).toMatch(line)
})
