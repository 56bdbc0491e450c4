/** Requests and responses of the verification API. */
import * as z from 'zod'
import { optional } from '../model.ts'

/** Every check with the type of its parameter, if it has one. */
export const parameterOf = {
  SignatureVerification: undefined,
  IssuerIdentification: 'DidParameter',
  ExpirationCheck: 'DateTimeParameter',
  NotBeforeCheck: 'DateTimeParameter',
  AudienceCheck: 'DidParameter',
  SubjectVerification: undefined,
  IntegrityOfClaims: undefined,
  ComplianceWithStandards: undefined,
  RevocationCheck: undefined,
  AlgorithmVerification: undefined,
  SchemaCheck: undefined,
  SemanticCheckOfClaims: undefined,
} as const
export type VcVerificationName = keyof typeof parameterOf

/** Limits of a request. A check may cost the resolution of a DID and the reading of schemas. */
const maxCredentials = 100
const maxVerifications = 20

const names = Object.keys(parameterOf) as [VcVerificationName, ...VcVerificationName[]]
const VcVerification = z.enum(names).meta({ id: 'VcVerification' })

/** RFC 3339. The seconds are optional, as in the Cloud Agent's documentation. */
const Time = z.union([z.iso.datetime({ offset: true }), z.iso.datetime({ offset: true, precision: -1 })])

const DidParameter = z
  .object({
    parameterType: z.literal('DidParameter'),
    did: z.string().min(1).describe('The DID to compare with.'),
  })
  .meta({ id: 'DidParameter' })
const DateTimeParameter = z
  .object({
    parameterType: z.literal('DateTimeParameter'),
    dateTime: Time.describe('The instant to compare with.'),
  })
  .meta({ id: 'DateTimeParameter' })
const Parameter = z.discriminatedUnion('parameterType', [DidParameter, DateTimeParameter])
export type Parameter = z.output<typeof Parameter>

export const RequestedVerification = z
  .object({ verification: VcVerification, parameter: optional(Parameter) })
  .superRefine(({ verification, parameter }, context) => {
    const needed = parameterOf[verification]
    if (parameter?.parameterType === needed) return
    const message =
      needed === undefined
        ? `${verification} has no parameter; leave it out`
        : `${verification} needs a ${needed}`
    context.addIssue({ code: 'custom', path: ['parameter'], message })
  })
  .meta({ id: 'ParameterizableVcVerification' })
export type RequestedVerification = z.output<typeof RequestedVerification>

export const VcVerificationRequest = z
  .object({
    credential: z.string().min(1).describe('A credential as a compact JWT or SD-JWT.'),
    verifications: z
      .array(RequestedVerification)
      .max(maxVerifications)
      .nullish()
      .transform((list) => list ?? [])
      .describe('The checks. Default: all that need no DID, with dates as of now.'),
  })
  .meta({ id: 'VcVerificationRequest' })
export type VcVerificationRequest = z.output<typeof VcVerificationRequest>

export const VcVerificationRequests = z.array(VcVerificationRequest).max(maxCredentials)

export const VcVerificationResult = z
  .object({
    verification: VcVerification,
    success: z.boolean(),
    detail: z.string().optional().describe('Why the check has failed (extension).'),
  })
  .meta({ id: 'VcVerificationResult' })
export type VcVerificationResult = z.infer<typeof VcVerificationResult>

export const VcVerificationResponse = z
  .object({ credential: z.string(), result: z.array(VcVerificationResult) })
  .meta({ id: 'VcVerificationResponse' })
export type VcVerificationResponse = z.infer<typeof VcVerificationResponse>
