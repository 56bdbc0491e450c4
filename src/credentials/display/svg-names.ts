/**
 * What an SVG of an issuer may consist of. Everything else is refused: scripts, events, animation (which can
 * change a link), foreign content, embedded pictures, and what reads another document.
 */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

export const elements = words(`
  svg g defs symbol use title desc style path rect circle ellipse line polyline polygon text tspan
  linearGradient radialGradient stop clipPath mask marker filter feBlend feColorMatrix feComposite feDropShadow
  feFlood feGaussianBlur feMerge feMergeNode feOffset
`)

/** The elements with text. Others have white space between elements only. */
export const withText = words('text tspan title desc style')

/** The elements whose text may have placeholders. */
export const withPlaceholders = words('text tspan title desc')

export const attributes = words(`
  id class style version viewBox preserveAspectRatio width height x y dx dy x1 y1 x2 y2 cx cy r rx ry fx fy fr
  d points pathLength rotate lengthAdjust textLength transform
  xmlns xmlns:xlink xml:space xml:lang lang href xlink:href role aria-label aria-hidden
  offset gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits maskContentUnits
  markerWidth markerHeight markerUnits refX refY orient
  filterUnits primitiveUnits in in2 result mode type values operator k1 k2 k3 k4 stdDeviation edgeMode
  fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit
  stroke-dasharray stroke-dashoffset opacity color display visibility overflow clip-path clip-rule mask filter
  marker-start marker-mid marker-end stop-color stop-opacity flood-color flood-opacity paint-order vector-effect
  shape-rendering text-rendering color-interpolation color-interpolation-filters mix-blend-mode isolation
  font-family font-size font-style font-variant font-weight font-stretch letter-spacing word-spacing
  text-anchor text-decoration dominant-baseline alignment-baseline baseline-shift writing-mode direction
`)

/** The attributes that name an element of the same document, as `#id`. */
export const links = words('href xlink:href')

/** The attributes that may have the value `url(#id)`. */
export const paints = words('fill stroke clip-path mask filter marker-start marker-mid marker-end')

/** The attributes that are only text. */
export const plain = words('aria-label class d')

/** The functions of CSS and of transformations. None of them reads a document. */
export const functions = words(
  'rgb rgba hsl hsla matrix translate translatex translatey scale scalex scaley rotate skewx skewy',
)

/** The namespaces, which have these names alone. */
export const namespaces: Readonly<Record<string, string>> = {
  xmlns: 'http://www.w3.org/2000/svg',
  'xmlns:xlink': 'http://www.w3.org/1999/xlink',
}
