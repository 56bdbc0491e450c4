/** Presentations that answer a query in DCQL: several credentials of several formats. */
import { randomId } from '../../../base/id.ts'
import { parseJson } from '../../../base/json.ts'
import { Problem } from '../../../base/problem.ts'
import { reasonOf } from '../../../base/reason.ts'
import { VerificationError } from '../../../credentials/verification-error.ts'
import { jsonAttachment } from '../../../didcomm/message.ts'
import type { DcqlQuery } from '../../../dcql/query.ts'
import { isTokenFormat } from '../../../formats/names.ts'
import { verifyPresentations } from '../../../presentation/answer.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { DcqlAnswer, dcqlAttachments, DcqlRequest, firstFormatOf, type DcqlPresentation } from '../dcql.ts'
import {
  type AnswerPart,
  compareCredentials,
  getAnswer,
  makeVpToken,
  withoutInvalid,
} from '../dcql-answer.ts'
import type { ProofFormat } from '../format.ts'
import { wrongFormat } from '../held-credentials.ts'
import type { PresentationRecord } from '../model.ts'
import { getOptions, newOptions } from './options.ts'

export const dcql: ProofFormat = {
  createRequest(wallet, requested, verifier) {
    const { dcqlQuery: query } = requested
    if (!query) throw new Error('the request has no dcqlQuery')
    const options = newOptions(wallet, requested, verifier)
    const content = { options, dcql_query: query }
    return {
      terms: { options, dcql: { query } },
      attachments: [jsonAttachment(randomId(), content, dcqlAttachments.request)],
      content,
    }
  },

  readRequest(content) {
    const { options, dcql_query: query } = DcqlRequest.parse(content)
    return { options, credentialFormat: firstFormatOf(query), dcql: { query } }
  },

  async choose(wallet, record, { proofId = [], claims, credentialFormat, anoncredPresentationRequest }) {
    const { query } = queryOf(record)
    if (
      (credentialFormat !== undefined && !isTokenFormat(credentialFormat)) ||
      anoncredPresentationRequest !== undefined
    )
      throw wrongFormat('credentialFormat: the request is a query in DCQL, which has no AnonCreds.')
    if (Object.keys(claims ?? {}).length > 0)
      throw refuse('claims: the query decides which claims are disclosed. Leave it out.')
    const { answer } = await present(wallet, record, query, proofId.length > 0 ? proofId : undefined)
    return { proofId: [...new Set(answer.map(({ recordId }) => recordId))] }
  },

  async present(wallet, record) {
    const { query } = queryOf(record)
    const { token } = await present(wallet, record, query, record.proofId)
    return JSON.stringify({ vp_token: token })
  },

  attach: (presentation) => [
    jsonAttachment(randomId(), JSON.parse(presentation), dcqlAttachments.presentation),
  ],

  async verify(wallet, record, presentation) {
    const { query } = queryOf(record)
    const { domain: audience, challenge: nonce } = getOptions(record)
    const presented = readAnswer(presentation)
    const { checks, credentials } = await verifyPresentations(
      wallet,
      { ...record, query, audience, nonce, requiresVcType: false },
      presented,
    )
    const failed = checks.find(({ result }) => result === 'failed')
    if (!failed) return { dcql: { query, checks, credentials } }
    const { credentialId, name, reason } = failed
    const about = credentialId === undefined ? name : `${credentialId}: ${name}`
    return { dcql: { query, checks }, refusal: `${about}: ${reason}` }
  },
}

function queryOf({ id, dcql: stored }: PresentationRecord): DcqlPresentation {
  if (!stored) throw new Error(`the record ${id} has no query in DCQL`)
  return stored
}

/** @throws {VerificationError} `malformed` */
function readAnswer(presentation: string): Record<string, string[]> {
  try {
    return DcqlAnswer.parse(parseJson(presentation)).vp_token
  } catch (cause) {
    throw new VerificationError('malformed', `The presentation is no vp_token: ${reasonOf(cause)}`, { cause })
  }
}

/** The presentations of chosen credentials, or of the first that match. Before the holder accepts, this shows that the wallet has the keys. @throws {Problem} */
async function present(
  wallet: Wallet,
  record: PresentationRecord,
  query: DcqlQuery,
  proofId: readonly string[] | undefined,
): Promise<{ answer: AnswerPart[]; token: Record<string, string[]> }> {
  const { domain: clientId, challenge: nonce } = getOptions(record)
  const compared = await compareCredentials(wallet, query, proofId ? undefined : record.issuers)
  const held = proofId ? compared : await withoutInvalid(wallet, compared)
  const answer = getAnswer(query, held, proofId)
  const request = { clientId, nonce, dcqlQuery: query }
  return { answer, token: await makeVpToken(wallet, request, answer, held.presentable) }
}

function refuse(detail: string): Problem {
  return new Problem('BadRequest', detail)
}
