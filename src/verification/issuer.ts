/** The claim whose DID a signature is checked against, and no other. */
import { z } from 'zod'
import { Did } from '../did/document.ts'

export const Issuer = z.looseObject({ iss: Did })
