/** What the configuration of an OpenID4VCI issuer says of the type of its credentials, by format. */
import * as z from 'zod'
import { TypeMetadata } from '../codecs/sd-jwt/type-metadata.ts'
import { DocumentType } from './mdoc/document-type.ts'

/** The type metadata of an SD-JWT VC, and its integrity if it is served at its `vct`. */
const TypeOfSdJwt = z.object({ metadata: TypeMetadata, integrity: z.string().optional() })

export const IssuedType = z.union([TypeOfSdJwt, DocumentType])
export type IssuedType = z.output<typeof IssuedType>
