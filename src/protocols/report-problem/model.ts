/** Problem reports (Report Problem 2.0; wire.md 6): their body, and what ours say. */
import { z } from 'zod'
import type { Problem, ProblemType } from '../../base/problem.ts'

export const reportProblem = {
  name: 'report-problem',
  messages: { 'problem-report': 'https://didcomm.org/report-problem/2.0/problem-report' },
} as const

export const ReportBody = z.looseObject({
  /** What went wrong: sorter, scope and descriptors, such as `e.p.msg.offer-refused`. */
  code: z.string().min(1).max(200),
  /** The same in words, in which `{1}` stands for the first of `args`. */
  comment: z.string().nullish(),
  args: z.array(z.unknown()).nullish(),
})
export type ReportBody = z.infer<typeof ReportBody>

/** The longest comment that is kept, in characters. */
const maxComment = 1_000

/** The problems of ours that the other side has to know of, and the codes they have between agents. */
export const codes: Readonly<Partial<Record<ProblemType, string>>> = {
  'error:ConnectionServiceError:InvitationExpired': 'e.p.req.time.invitation-expired',
  'error:ConnectionServiceError:InvitationAlreadyReceived': 'e.p.req.invitation-used',
  'error:CredentialServiceError:InvitationExpired': 'e.p.req.time.invitation-expired',
  'error:CredentialServiceError:InvalidCredentialOffer': 'e.p.msg.offer-refused',
  'error:CredentialServiceError:InvalidCredentialRequest': 'e.p.trust.request-refused',
  'error:CredentialServiceError:InvalidCredentialIssue': 'e.p.trust.credential-refused',
  'error:PresentationError:InvitationExpired': 'e.p.req.time.invitation-expired',
  'error:PresentationError:InvalidPresentationRequest': 'e.p.msg.request-refused',
  'error:PresentationError:InvalidPresentation': 'e.p.msg.presentation-unreadable',
}

/** The body of the report of a problem, if it is one to report. */
export function toReport({ type, message }: Problem): { code: string; comment: string } | undefined {
  const code = codes[type]
  return code === undefined ? undefined : { code, comment: message.slice(0, maxComment) }
}

/** The comment of a report with its arguments in it. */
export function commentOf({ comment, args }: ReportBody): string | undefined {
  if (comment == null) return undefined
  const filled = comment
    .slice(0, maxComment)
    .replaceAll(/\{(\d{1,3})\}/g, (_, place: string) => toText(args?.[Number(place) - 1]))
  return filled.slice(0, maxComment)
}

function toText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '?'
}
