/** What a verifier may ask for here (wire.md 10): what a request says is refused where it could not be kept, not passed over. */
import { z } from 'zod'
import { PresentationRequest } from './proof-model.ts'
import { isKnownTag, tagNames } from './restrictions.ts'

type Shape = z.ZodType<Omit<PresentationRequest, 'nonce'>>

/** A request whose every member is understood: something is asked for, nothing that can be revoked, and restrictions are of the known kinds. */
export function askedPresentation<Type extends Shape>(type: Type) {
  return type.superRefine((request, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message })
    if (request.non_revoked) refuse(['non_revoked'], notRevoked)
    const asked = (['requested_attributes', 'requested_predicates'] as const).flatMap((kind) =>
      Object.entries(request[kind]).map(([reference, each]) => ({ path: [kind, reference], ...each })),
    )
    if (asked.length === 0)
      refuse(['requested_attributes'], 'asks for nothing, and requested_predicates neither')
    for (const { path, non_revoked, restrictions } of asked) {
      if (non_revoked) refuse([...path, 'non_revoked'], notRevoked)
      for (const [index, restriction] of restrictions.entries()) {
        const place = [...path, 'restrictions', String(index)]
        if (Object.keys(restriction).length === 0) refuse(place, 'says nothing')
        const unknown = Object.keys(restriction).find((tag) => !isKnownTag(tag))
        if (unknown !== undefined) refuse([...place, unknown], `is none of ${tagNames}`)
      }
    }
  })
}

const notRevoked = 'is not supported: AnonCreds credentials cannot be revoked here. Leave it out.'

export const AskedPresentation = askedPresentation(PresentationRequest)
