/** What the checks of a credential mean, in words. */
import type { Answer } from '../client/api.ts'
import { inStyle, type Styled } from './colour.ts'

type Result = Answer<'POST /verification/credential'>[number]['result'][number]

/** Each check: what it is about, what yes means, what no means. */
// prettier-ignore
const words: Record<Result['verification'], [about: string, yes: string, no: string]> = {
  SemanticCheckOfClaims:   ['content',    'a verifiable credential that can be read',       'not a verifiable credential, or it contradicts itself'],
  AlgorithmVerification:   ['algorithm',  'one that may sign credentials',                  'none that may sign credentials'],
  SignatureVerification:   ['signature',  'made by a key of its issuer',                    'not made by a key of its issuer (a key binding: of its holder), or the issuer’s DID does not resolve'],
  IntegrityOfClaims:       ['integrity',  'nothing was changed, and no claim contradicts another', 'something was changed, or its claims contradict each other'],
  ComplianceWithStandards: ['standard',   'as the W3C data model, or SD-JWT VC, has it',     'not as the W3C data model, or SD-JWT VC, has it'],
  NotBeforeCheck:          ['valid from', 'its time has begun',                             'its time has not begun'],
  ExpirationCheck:         ['valid until', 'its time has not ended',                        'its time has ended'],
  RevocationCheck:         ['status',     'not revoked',                                    'revoked, suspended, or its status cannot be found out'],
  SchemaCheck:             ['schemas',    'all are there',                                  'one is not there, or is none'],
  SubjectVerification:     ['claims',     'fit the schemas',                                'do not fit the schemas'],
  IssuerIdentification:    ['issuer',     'the one you named',                              'another than you named'],
  AudienceCheck:           ['audience',   'whom you named',                                 'others than you named'],
}

/** Results as names and what was found. Of a credential that cannot be read, the other checks have not been made. */
export function checkFields(results: readonly Result[]): [name: string, value: Styled][] {
  const isUnreadable = results.some(
    ({ verification, success }) => verification === 'SemanticCheckOfClaims' && !success,
  )
  return results.map(({ verification, success }) => {
    const [about, yes, no] = words[verification]
    if (success) return [about, inStyle('good', `ok: ${yes}`)]
    return isUnreadable && verification !== 'SemanticCheckOfClaims'
      ? [about, inStyle('faint', 'not checked')]
      : [about, inStyle('bad', `NO: ${no}`)]
  })
}
