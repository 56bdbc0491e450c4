/** Malformed references to status lists: each refusal names the member and the reason. */
import { verifyJwtVc, verifySdJwt } from './_verify.ts'
import { expect, test } from 'vitest'
import { statusChecks } from '../../../src/wallet/credential-status/check.ts'
import { sharedAgent } from '../../support/agent.ts'
import { vc } from './_forge.ts'
import { now, resolve } from './_people.ts'
import { issued, reissued } from './sd-jwt/_forged.ts'

const { agent } = await sharedAgent()
const options = { resolve, now, ...statusChecks(agent.env) }

const uri = 'https://lists.example/1'
const entry = {
  type: 'BitstringStatusListEntry',
  statusPurpose: 'revocation',
  statusListIndex: 7,
  statusListCredential: uri,
}

const inJwt = (credentialStatus: unknown) =>
  verifyJwtVc(
    vc((payload) => (payload.vc.credentialStatus = credentialStatus)),
    options,
  )
const inSdJwt = (status: unknown) =>
  verifySdJwt(
    reissued((payload) => (payload.status = status), issued.split('~').slice(1, -1)).replace(/[^~]*$/, ''),
    options,
  )

const reasonFor = (verified: Promise<unknown>) =>
  verified.then(
    () => 'valid',
    (error: Error) => error.message,
  )

// prettier-ignore
test.each<[change: object, reason: string]>([
  [{ statusListIndex: undefined },      'The status check failed: credentialStatus.statusListIndex: is missing: it must be a number or a text'],
  [{ statusListIndex: -1 },             `The claim 'vc.credentialStatus.statusListIndex' is invalid: must be at least 0`],
  [{ statusListIndex: 1.5 },            `The claim 'vc.credentialStatus.statusListIndex' is invalid: must be a whole number`],
  [{ statusListIndex: 2 ** 60 },        `The claim 'vc.credentialStatus.statusListIndex' is invalid: must be at most 9007199254740991`],
  [{ statusListIndex: '-1' },           `The claim 'vc.credentialStatus.statusListIndex' is invalid: must be a whole number in 1 to 15 digits`],
  [{ statusListIndex: '1'.repeat(16) }, `The claim 'vc.credentialStatus.statusListIndex' is invalid: must be a whole number in 1 to 15 digits`],
  [{ statusListIndex: null },           `The claim 'vc.credentialStatus.statusListIndex' is invalid: must be a number or a text, and is null`],
  [{ statusListCredential: undefined }, 'The status check failed: credentialStatus.statusListCredential: is missing: it must be a text'],
  [{ statusListCredential: 'list' },    'The status check failed: credentialStatus.statusListCredential: must be an absolute URL such as https://example.com/path'],
  [{ statusListCredential: 5 },         `The claim 'vc.credentialStatus.statusListCredential' is invalid: must be a text, and is a number`],
  [{ statusPurpose: undefined },        'The status check failed: credentialStatus.statusPurpose: is missing: it must be a text'],
  [{ statusPurpose: 'fraud' },          'The status check failed: credentialStatus.statusPurpose: must be "revocation", "suspension" or "message"'],
  [{ statusSize: 0 },                   'The status check failed: credentialStatus.statusSize: must be at least 1'],
  [{ type: 'RevocationList2020Status' }, 'The status check failed: credentialStatus.type: "RevocationList2020Status" is not supported; must be "StatusList2021Entry" or "BitstringStatusListEntry"'],
  [{ type: 'status_list' },             'The status check failed: status: is missing: it must be an object'],
  [{ type: undefined },                 `The claim 'vc.credentialStatus.type' is invalid: is missing: it must be a text or an array`],
])('a JWT VC: %j', async (change, reason) => {
  expect(await reasonFor(inJwt({ ...entry, ...change }))).toBe(reason)
})

test.each([
  ['revoked', 'must be an object or an array, and is a text'],
  [Array.from({ length: 11 }, () => entry), 'must have at most 10 entries'],
])('a JWT VC with the status %j', async (status, reason) => {
  expect(await reasonFor(inJwt(status))).toBe(`The claim 'vc.credentialStatus' is invalid: ${reason}`)
})

// prettier-ignore
test.each<[status: unknown, reason: string]>([
  [{ status_list: { uri } },              'status.status_list.idx: is missing: it must be a number'],
  [{ status_list: { idx: -1, uri } },     'status.status_list.idx: must be at least 0'],
  [{ status_list: { idx: 1.5, uri } },    'status.status_list.idx: must be a whole number'],
  [{ status_list: { idx: 2 ** 60, uri } }, 'status.status_list.idx: must be at most 9007199254740991'],
  [{ status_list: { idx: '7', uri } },    'status.status_list.idx: must be a number, and is a text'],
  [{ status_list: { idx: null, uri } },   'status.status_list.idx: must be a number, and is null'],
  [{ status_list: { idx: 7 } },           'status.status_list.uri: is missing: it must be a text'],
  [{ status_list: { idx: 7, uri: 5 } },   'status.status_list.uri: must be a text, and is a number'],
  [{ status_list: { idx: 7, uri: 'x' } }, 'status.status_list.uri: must be an absolute URL such as https://example.com/path'],
  [{ status_list: 'x' },                  'status.status_list: must be an object, and is a text'],
  [{ status_list: null },                 'status.status_list: must be an object, and is null'],
  [{ other: {} },                         'status.status_list: is missing, and no other kind of status is supported'],
  ['revoked',                             'status: must be an object, and is a text'],
])('an SD-JWT with the status %j', async (status, reason) => {
  expect(await reasonFor(inSdJwt(status))).toBe(`The status check failed: ${reason}`)
})
