//! The backend on an adapter.

mod on_adapter;
