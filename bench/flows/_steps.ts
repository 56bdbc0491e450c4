/**
 * The bare steps of flows: `acme` and `alice` are state changes, each a commit and a webhook; `acme>alice` is
 * an envelope whose receipt is such a change too. The sequences follow the protocols' `states.ts`.
 */

export type Party = 'acme' | 'alice'
export type Step = Party | 'acme>alice' | 'alice>acme' | 'sign' | 'verify'

// prettier-ignore
const connect: Step[] = ['acme', 'alice', 'alice', 'alice>acme', 'alice', 'acme', 'acme>alice', 'acme']

// prettier-ignore
const issue: Step[] = [
  'acme', 'acme>alice', 'acme',
  'alice', 'sign', 'alice>acme', 'alice', 'verify',
  'acme', 'sign', 'acme', 'acme>alice', 'acme', 'verify',
]

// prettier-ignore
const present: Step[] = [
  'acme', 'acme>alice', 'acme',
  'alice', 'sign', 'alice', 'alice>acme', 'alice', 'verify', 'verify',
  'acme',
]

export const steps = { connect, issue, present, full: [...connect, ...issue, ...present] }
export type Steps = keyof typeof steps
