/**
 * Checks of the authorization server, from the authorization request to the token, and the attack that each
 * one stops.
 */
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { answer, newPkce, offered, open, push, sealedIn, type Parameters } from './_authorization.ts'
import { newDpopNonce, post, proofFor, thumbprintOf } from './_dpop.ts'
import { check, type Check } from './_mutants.ts'
import { expire, externalState, preAuthorized, withWallet, type Scene } from './_scene.ts'
import { redeem } from './_wallet.ts'

/** Pushes a request with other parameters than a valid one. */
const pushed =
  (changes: Parameters) =>
  async ({ setup }: Scene) =>
    push(setup, { ...(await offered(setup)).parameters, ...changes })

/** The fields of the page of a request. */
async function shown(setup: Scene['setup']) {
  const { parameters, txCode, ...made } = await offered(setup)
  const request = sealedIn(await open(setup, parameters))
  return { ...made, fields: { request, decision: 'accept', tx_code: txCode } }
}

const details = (id: string, more: object = {}) =>
  JSON.stringify([{ type: 'openid_credential', credential_configuration_id: id, ...more }])

const requests: Check[] = [
  check('authorization-request.ts', 'fault !== undefined', async ({ setup }) =>
    open(setup, { ...(await offered(setup)).parameters, redirect_uri: 'http://thief.example/cb' }),
  ),
  // The offer has no transaction code: the external server authorizes the person.
  check(
    'authorization-request.ts',
    ['grant?.authorization_server !== null', 'grant === undefined'],
    async ({ external }) => {
      const { issuerState } = await externalState(external)
      const parameters = {
        response_type: 'code',
        client_id: 'wallet',
        redirect_uri: 'https://wallet.example',
      }
      const pkce = { code_challenge: newPkce().challenge, code_challenge_method: 'S256' }
      return open(external, { ...parameters, ...pkce, scope: 'Person', issuer_state: issuerState })
    },
  ),
  check(
    'authorization-request.ts',
    'sealed === null || records.length === 0 || !records.every(isOpen)',
    async (scene) => {
      const { parameters, recordId } = await offered(scene.setup)
      await expire(scene, recordId)
      return open(scene.setup, parameters)
    },
  ),
  check('authorization-request.ts', ['isOpenTo(row, issuer)', 'true'], pushed({ issuer_state: undefined })),
  check('authorization-request.ts', 'request.request !== undefined', pushed({ request: 'e30.e30.' })),
  check('authorization-request.ts', "request.response_type !== 'code'", pushed({ response_type: 'token' })),
  check(
    'authorization-request.ts',
    "request.response_mode !== undefined && request.response_mode !== 'query'",
    pushed({ response_mode: 'fragment' }),
  ),
  check(
    'authorization-request.ts',
    "method !== 'S256' || !/^[\\w-]{43}$/.test(codeChallenge)",
    pushed({ code_challenge_method: 'plain' }),
  ),
  check('authorization-request.ts', 'wanted.length === 0', pushed({ scope: 'Licence' })),
  check(
    'authorization-request.ts',
    'parsed.data.length === 0 || !parsed.data.every(isOffered)',
    pushed({ authorization_details: details('Person', { locations: ['https://thief.example'] }) }),
  ),
  check('src/foundation/oauth/parameters.ts', 'repeated !== undefined', async ({ setup }) => {
    const form = new URLSearchParams((await preAuthorized(setup)).form).toString()
    return redeem(setup, `${form}&client_id=one&client_id=two`)
  }),
  check('sealed-request.ts', 'isOver(opened.endsMs)', async (scene) => {
    const { setup } = scene
    const { request_uri } = (await push(setup, (await offered(setup)).parameters)).body
    const [, prefix, sealed] = /^(.*:)(.*)$/.exec(request_uri)!
    const context = `authorization-request:pushed:${setup.issuerId}`
    const old = await withWallet(scene, (wallet) => {
      const opened = JSON.parse(wallet.unseal(context, sealed!))
      return wallet.seal(context, JSON.stringify({ ...opened, endsMs: 1 }))
    })
    return open(setup, { client_id: 'wallet', request_uri: `${prefix}${old}` })
  }),
  check(
    'sealed-request.ts',
    ['`authorization-request:${purpose}:${issuerId}`', "'authorization-request'"],
    async ({ setup, other }) => answer(setup, (await shown(other)).fields),
  ),
  check('sealed-request.ts', 'request.clientId !== clientId', async ({ setup }) => {
    const { request_uri } = (await push(setup, (await offered(setup)).parameters)).body
    return open(setup, { client_id: 'thief', request_uri })
  }),
  check('sealed-request.ts', 'checked.jkt !== undefined && jkt !== checked.jkt', async ({ setup }) => {
    const { parameters } = await offered(setup)
    const dpop = proofFor(setup, 'par', { nonce: await newDpopNonce(setup) })
    return post(setup, 'par', { ...parameters, dpop_jkt: thumbprintOf(generateKey('Ed25519')) }, dpop)
  }),
]

const consents: Check[] = [
  // A link to this agent leads to the host of a stranger.
  check(
    'consent.ts',
    [
      "{ refusal: { reason: error.message, target, of: ofStep.has(error.code) ? step : 'request' } }",
      '{ redirect: target }',
    ],
    async ({ setup }) => {
      const shown = await open(setup, { ...(await offered(setup)).parameters, response_type: 'token' })
      return { ...shown, status: shown.location ? 200 : 400 }
    },
  ),
  check('redirect-uri.ts', '!/^[\\w.:[\\]-]*$/.test(host)', async ({ setup }) =>
    open(setup, { ...(await offered(setup)).parameters, redirect_uri: 'https://a;sandbox' }),
  ),
  check('consent.ts', ["decision === 'decline' || right === undefined", 'true'], async ({ setup }) =>
    answer(setup, { ...(await shown(setup)).fields, tx_code: undefined }),
  ),
  check('consent.ts', 'await isUsed(tx, request.id)', async ({ setup }) => {
    const { fields } = await shown(setup)
    await answer(setup, { ...fields, decision: 'decline' })
    return answer(setup, fields)
  }),
  check('consent.ts', 'earlier && earlier.decision !== decision', async ({ setup }) => {
    const { fields } = await shown(setup)
    await answer(setup, { ...fields, decision: 'decline' })
    return answer(setup, fields)
  }),
  check(
    'daemon/routes/_oid4vci.ts',
    "!isOwn || (site ?? 'same-origin') !== 'same-origin'",
    async ({ setup }) => answer(setup, (await shown(setup)).fields, { 'sec-fetch-site': 'cross-site' }),
  ),
]

export const authorizationChecks: Check[] = [...requests, ...consents]
