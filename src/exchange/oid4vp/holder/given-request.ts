/** What an authorization request says without a request to anybody. */
import * as z from 'zod'
import { encodeParameters } from '../../../foundation/oauth/parameters.ts'
import { OAuthError } from '../../../foundation/oauth/oauth-error.ts'
import { Problem } from '../../../foundation/problem.ts'
import { readUrl } from './request-object.ts'

const Web = z.url({ protocol: /^https?$/ })

/** The link of a request from its parameters. */
export function toRequestLink(parameters: object): string {
  return `openid4vp://?${encodeParameters(parameters)}`
}

/**
 * The verifier, and where its request is retrieved or the response goes. A Request Object by value has no
 * such URL.
 *
 * @throws {Problem} `InvalidPresentationRequest`
 */
export function readGivenRequest(text: string): { clientId: string; url: string | undefined } {
  const { client_id: clientId, request_uri, response_uri, request } = parameters(text)
  if (clientId === undefined) throw invalid('client_id is missing')
  const url = request_uri ?? response_uri
  if (url === undefined && request === undefined) throw invalid('it has neither request_uri nor response_uri')
  if (url !== undefined && !Web.safeParse(url).success)
    throw invalid(`${request_uri === undefined ? 'response_uri' : 'request_uri'} is no URL of http or https`)
  return { clientId, url }
}

function parameters(text: string): Record<string, string> {
  try {
    return readUrl(text)
  } catch (error) {
    if (error instanceof OAuthError) throw invalid(error.message.replace(/\.$/, ''))
    throw error
  }
}

function invalid(reason: string): Problem {
  return new Problem(
    'error:PresentationError:InvalidPresentationRequest',
    `authorizationRequest: the request cannot be answered: ${reason}. Ask the verifier for a new one.`,
  )
}
