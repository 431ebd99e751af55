import { SaxesParser } from 'saxes';

/** One start tag of a document, with the names of the elements around it (outermost first). */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly ancestors: readonly string[];
}

export class XmlSyntaxError extends Error {
  override readonly name = 'XmlSyntaxError';
}

const MAX_DEPTH = 32;

/**
 * Lists the elements of a small data document. Less than XML is read: no document type and no CDATA, so nothing can
 * expand or point elsewhere. Every element has to be closed, because a feed cut off in the middle must be refused as a
 * whole and not read up to the cut.
 */
export function listElements(text: string): XmlElement[] {
  const elements: XmlElement[] = [];
  const open: string[] = [];
  const parser = new SaxesParser();
  const refuse = () => {
    throw new XmlSyntaxError('document types and CDATA are not read');
  };
  parser.on('doctype', refuse);
  parser.on('cdata', refuse);
  parser.on('opentag', ({ name, attributes }) => {
    elements.push({ name, attributes, ancestors: [...open] });
    open.push(name);
    if (open.length > MAX_DEPTH) throw new XmlSyntaxError('nested too deeply');
  });
  parser.on('closetag', () => void open.pop());
  try {
    parser.write(text).close();
  } catch (cause) {
    throw cause instanceof XmlSyntaxError ? cause : new XmlSyntaxError('not well-formed', { cause });
  }
  return elements;
}
