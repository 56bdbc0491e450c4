/** Runs the verification API's checks against the people of fixtures/credentials and schemas in memory. */
import { Problem } from '../../../src/foundation/problem.ts'
import { VerificationError } from '../../../src/credentials/codecs/verification-error.ts'
import { VcVerificationRequests, type VcVerificationName } from '../../../src/wallet/verification/model.ts'
import type { Sources } from '../../../src/wallet/verification/checks.ts'
import { verifyCredentials } from '../../../src/wallet/verification/verify.ts'
import { now, resolve, schemaId } from '../../credentials/codecs/_people.ts'
import { typeUrl } from './_parameters.ts'

/** The schema of the credential in `_people.ts`. */
export const schema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    familyName: { type: 'string' },
    drivingClass: { type: 'integer' },
    address: { type: 'object', properties: { city: { type: 'string' } } },
  },
  required: ['familyName'],
  additionalProperties: false,
}

export const sources: Sources = {
  resolve,
  getSchema: async (url) => {
    if (url === schemaId) return schema
    if (url === typeUrl) return { vct: typeUrl, name: 'Driving licence' }
    throw new Problem('error:CredentialSchemaError:SchemaDereferencingError', `nothing is at ${url}`)
  },
  checkStatus: async ({ type }) => {
    if (type === 'status') throw new VerificationError('status', 'unsupported status')
  },
}

/** The result of one check. */
export async function check(
  jwt: string,
  verification: VcVerificationName,
  parameter?: unknown,
  other: Partial<Sources> = {},
) {
  const requests = VcVerificationRequests.parse([
    { credential: jwt, verifications: [{ verification, parameter }] },
  ])
  const [response] = await verifyCredentials(requests, { ...sources, ...other }, now * 1_000)
  return response!.result[0]!.success
}
