/** Presentations that answer a query in DCQL: several credentials of several formats. */
import { randomId } from '../../../foundation/id.ts'
import { parseJson } from '../../../foundation/json.ts'
import { Problem } from '../../../foundation/problem.ts'
import { reasonOf } from '../../../foundation/reason.ts'
import { VerificationError } from '../../../credentials/codecs/verification-error.ts'
import { jsonAttachment } from '../../didcomm/message.ts'
import { describeFailed } from '../../../credentials/formats/checks.ts'
import { isTokenFormat } from '../../../definitions/format-names.ts'
import { verifyPresentations } from '../../../wallet/verification/answer.ts'
import type { Wallet } from '../../../wallet/wallet.ts'
import { DcqlAnswer, dcqlAttachments, DcqlRequest, firstFormatOf, type DcqlPresentation } from '../dcql.ts'
import { answerQuery } from '../dcql-answer.ts'
import type { ProofFormat } from '../format.ts'
import { wrongFormat } from '../chosen-credentials.ts'
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

  async choose(wallet, record, { proofId, claims, credentialFormat, anoncredPresentationRequest }) {
    if (
      (credentialFormat !== undefined && !isTokenFormat(credentialFormat)) ||
      anoncredPresentationRequest !== undefined
    )
      throw wrongFormat('credentialFormat: the request is a query in DCQL, which has no AnonCreds.')
    if (Object.keys(claims ?? {}).length > 0)
      throw refuse('claims: the query decides which claims are disclosed. Leave it out.')
    // Making the presentations shows that the wallet has the keys.
    const { proofId: chosen } = await present(wallet, record, proofId)
    return { proofId: chosen }
  },

  async present(wallet, record) {
    const { token } = await present(wallet, record, record.proofId)
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
    const refusal = describeFailed(checks)
    return refusal === undefined
      ? { dcql: { query, checks, credentials } }
      : { dcql: { query, checks }, refusal }
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
    throw new VerificationError('malformed', `The presentation is not a vp_token: ${reasonOf(cause)}`, {
      cause,
    })
  }
}

function present(wallet: Wallet, record: PresentationRecord, proofId: readonly string[] | undefined) {
  const { domain: clientId, challenge: nonce } = getOptions(record)
  const { issuers } = record
  return answerQuery(wallet, { ...queryOf(record), clientId, nonce, issuers }, proofId)
}

function refuse(detail: string): Problem {
  return new Problem('BadRequest', detail)
}
