import { Component, type ReactNode } from 'react';
import { Problem } from '../ui/states.tsx';

/** A page that fails leaves the menu usable. */
export class Boundary extends Component<{ readonly children: ReactNode }, { readonly error: unknown }> {
  override state = { error: undefined as unknown };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return <Problem error={error} retry={() => this.setState({ error: undefined })} />;
  }
}
