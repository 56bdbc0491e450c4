/**
 * The bare steps of flows: `acme` and `alice` are state changes, each a commit and a webhook; `acme>alice` is
 * an envelope whose receipt is such a change too. The sequences follow the protocols' `states.ts`.
 */

export type Party = 'acme' | 'alice'
export type Step = Party | 'acme>alice' | 'alice>acme' | 'sign' | 'verify'

/** The steps after each request to the API. */
// prettier-ignore
const connect = {
  'POST /connections': ['acme'],
  'POST /connection-invitations': ['alice', 'alice', 'alice>acme', 'alice', 'acme', 'acme>alice', 'acme'],
} satisfies Record<string, Step[]>

// prettier-ignore
const issue = {
  'POST /issue-credentials/credential-offers': ['acme', 'acme>alice', 'acme'],
  'POST /issue-credentials/records/…/accept-offer': [
    'alice', 'sign', 'alice>acme', 'alice', 'verify',
    'acme', 'sign', 'acme', 'acme>alice', 'acme', 'verify',
  ],
} satisfies Record<string, Step[]>

// prettier-ignore
const present = {
  'POST /present-proof/presentations': ['acme', 'acme>alice', 'acme'],
  'PATCH /present-proof/presentations/…, request-accept': [
    'alice', 'sign', 'alice', 'alice>acme', 'alice', 'verify', 'verify',
  ],
  'PATCH /present-proof/presentations/…, presentation-accept': ['acme'],
} satisfies Record<string, Step[]>

const byRequest = { ...connect, ...issue, ...present }
export const requests = Object.keys(byRequest) as (keyof typeof byRequest)[]

export const steps = {
  connect: Object.values(connect).flat(),
  issue: Object.values(issue).flat(),
  present: Object.values(present).flat(),
  full: Object.values(byRequest).flat(),
  ...byRequest,
} satisfies Record<string, Step[]>
export type Steps = keyof typeof steps
